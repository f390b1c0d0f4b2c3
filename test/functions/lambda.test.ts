import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lambdaHandler } from '../../src/http/lambda.ts';
import { zipOf } from '../support/archive-bytes.ts';
import type { Invoke } from '../support/lambda-event.ts';
import { invoker } from '../support/lambda-event.ts';
import type { TestService } from '../support/service.ts';
import { startService } from '../support/service.ts';
import { skillMd } from '../support/skills.ts';

let service: TestService;
let invoke: Invoke;

beforeAll(async () => {
  service = await startService({ resources: { binary: 'allow' } });
  invoke = invoker(lambdaHandler(service.app), await service.issue('acme'));
});
afterAll(() => service.close());

describe('[D2] the same app on Lambda', () => {
  test('publishes a zip from a base64 body, lists, loads, and reads text and bytes unmangled', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const archive = zipOf({
      'demo/SKILL.md': skillMd('demo'),
      'demo/all.bin': bytes,
      'demo/ü.md': '漢字\r\n',
    });
    expect(await invoke('PUT', '/v1/bundles/main', archive)).toMatchObject({
      statusCode: 201,
      isBase64Encoded: false,
    });

    const listed = await invoke('GET', '/v1/catalog?limit=1');
    expect(JSON.parse(listed.body)).toMatchObject({ total: 1, skills: [{ name: 'demo' }] });
    const again = await invoke('GET', '/v1/catalog?limit=1', undefined, {
      'if-none-match': listed.headers['etag'] ?? '',
    });
    expect(again).toMatchObject({ statusCode: 304, body: '' });

    const context = { session_id: 's' };
    const loaded = await invoke('POST', '/v1/tools/load_skill', JSON.stringify({ name: 'demo', context }));
    expect(loaded.statusCode).toBe(200);
    const read = (relative_path: string, headers: Record<string, string> = {}) =>
      invoke(
        'POST',
        '/v1/tools/load_skill_resource',
        JSON.stringify({ name: 'demo', relative_path, context }),
        headers,
      );
    expect(JSON.parse((await read('ü.md')).body)).toMatchObject({ content: '漢字\r\n' });
    const raw = await read('all.bin', { accept: 'application/octet-stream' });
    expect(raw.isBase64Encoded).toBe(true);
    expect(Buffer.from(raw.body, 'base64').equals(bytes)).toBe(true);
  });

  test('refuses as everywhere', async () => {
    expect(await invoke('GET', '/v1/catalog', undefined, { authorization: '' })).toMatchObject({
      statusCode: 401,
    });
    const missing = await invoke('GET', '/v1/skills/nope');
    expect(missing).toMatchObject({ statusCode: 404, isBase64Encoded: false });
    expect(JSON.parse(missing.body)).toMatchObject({ code: 'skill_not_found' });
  });
});
