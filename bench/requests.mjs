// What is asked of a service, and what it answered when it was asked the first time: the bytes for the other side.
import { randomUUID } from 'node:crypto';

const CONTEXT_IN_ANSWER = /"(?:session_id|activated_at|expires_at)":"([^"]*)"/g;
/** Text files of a generated skill, in turn. */
const RESOURCES = ['references/guide.md', 'references/terms.md', 'scripts/check.py', 'assets/template.json'];

/**
 * @returns rows by name, each of items { name, request, answer } as load-client.mjs takes them
 * @throws Error when an answer is not 200, or does not hold what was published
 */
export async function askOnce(service, skills) {
  const get = async (name, path) => ask(service, name, { method: 'GET', path });
  const rows = {
    catalog: [await get('catalog', '/v1/catalog')],
    prompt: [await get('prompt', '/v1/catalog/prompt')],
    load: [],
    again: [],
    resource: [],
  };
  for (const [index, skill] of skills.entries()) {
    const session = randomUUID();
    const call = (row, tool, input) => {
      const body = { name: skill.name, ...input, context: { session_id: session } };
      return ask(service, `${row}/${index}`, { method: 'POST', path: `/v1/tools/${tool}`, body });
    };
    const load = await call('load', 'load_skill', {});
    const relative_path = RESOURCES[index % RESOURCES.length];
    const again = await call('again', 'load_skill', {});
    const resource = await call('resource', 'load_skill_resource', { relative_path });
    const file = (path) => skill.files.find((one) => one.path === path).bytes.toString();
    mustHold(file('SKILL.md').includes(parsed(load).instructions.trim()), load);
    mustHold(parsed(again).activation.already_active, again);
    mustHold(parsed(resource).content === file(relative_path), resource);
    rows.load.push({
      ...load,
      // Every request has a session of its own, so that each is a first activation.
      request: load.request[0].split(session),
      answer: { ...load.answer, compared: rangesOutside(load.answer.body, CONTEXT_IN_ANSWER) },
    });
    rows.again.push(again);
    rows.resource.push(resource);
  }
  return rows;
}

async function ask({ name, port, key }, item, { method, path, body }) {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${key}`,
    accept: 'application/json',
    'user-agent': 'skillbucket-bench',
    'x-bench-answer': `${name}/${item}`,
    ...(content === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
  };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers,
    ...(content === undefined ? {} : { body: content }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${bytes}`);
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`);
  return {
    name: `${name}/${item}`,
    request: [`${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n${content ?? ''}`],
    answer: {
      status: response.status,
      headers: { 'content-type': response.headers.get('content-type'), 'content-length': bytes.length },
      body: bytes,
      compared: [[0, bytes.length]],
    },
  };
}

const parsed = ({ answer }) => JSON.parse(answer.body);

function mustHold(condition, { name, answer }) {
  if (!condition) throw new Error(`${name} does not answer what was published: ${answer.body}`);
}

/** Byte ranges outside of what the first group of the pattern matches. */
function rangesOutside(bytes, pattern) {
  // One character a byte, so that places in the text are places in the bytes.
  const text = bytes.toString('latin1');
  const ranges = [];
  let from = 0;
  for (const match of text.matchAll(pattern)) {
    const to = match.index + match[0].length - 1 - match[1].length;
    ranges.push([from, to]);
    from = to + match[1].length;
  }
  return [...ranges, [from, bytes.length]];
}
