import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { SkillError } from '../core/errors.ts';
import type { Patience } from './patience.ts';
import { FinalError, patiently } from './patience.ts';

/** Small enough that a progress bar moves on a slow line. */
const CHUNK_BYTES = 64 * 1024;
/** Of an answer; a bucket's error documents are far smaller. */
const MAX_ANSWER_CHARACTERS = 16 * 1024;

/**
 * PUTs bytes to a signed URL, telling how many have gone out. With its length declared, as signed: `fetch` would send a
 * stream chunked.
 *
 * @param patience for each part of the bytes to go out, and then for the answer
 * @throws SkillError unavailable (try again), forbidden (the URL is not valid or has expired)
 */
export async function putArchive(
  url: string,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  options: { readonly patience: Patience; readonly onProgress: (sent: number) => void },
): Promise<void> {
  const { patience, onProgress } = options;
  const request = opened(url, { method: 'PUT', headers: { ...headers, 'content-length': bytes.length } });
  const { host } = new URL(url);
  const what = `${host} (PUT of the archive)`;
  // A bucket may refuse before it has all, so the answer is awaited from the start.
  const answer = answerOf(request);
  answer.catch(() => undefined);
  try {
    for (let sent = 0; sent < bytes.length;) {
      const chunk = bytes.subarray(sent, sent + CHUNK_BYTES);
      const gone = new Promise<'gone'>((resolve) => {
        request.write(chunk, (error) => {
          if (!error) resolve('gone');
        });
      });
      const first = await patiently({ ...patience, note: () => undefined }, what, (signal) =>
        aborting(request, signal, Promise.race([gone, answer])),
      );
      if (first !== 'gone') break;
      sent += chunk.length;
      onProgress(sent);
    }
    request.end();
    const { status, text } = await patiently(patience, what, (signal) => aborting(request, signal, answer));
    if (status >= 200 && status < 300) return;
    const said = /<Code>([^<]{1,80})<\/Code>/.exec(text)?.[1] ?? /"code":"([a-z_]{1,80})"/.exec(text)?.[1];
    const detail = `The bucket answered ${status}${said === undefined ? '' : ` (${said})`}.`;
    throw new SkillError(status === 403 ? 'forbidden' : 'unavailable', { detail });
  } catch (error) {
    if (error instanceof SkillError) throw error;
    throw new SkillError('unavailable', { detail: `${host} broke off the upload.`, cause: error });
  } finally {
    request.destroy();
  }
}

/** @throws FinalError when URL or headers are such that nothing can be sent */
function opened(url: string, options: RequestOptions): ClientRequest {
  try {
    return (new URL(url).protocol === 'https:' ? httpsRequest : httpRequest)(url, options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new FinalError('unavailable', {
      detail: 'The service answered an upload URL that cannot be used.',
    });
  }
}

/** The status and the beginning of what is said with it; an answer without an end does not hold us up. */
function answerOf(request: ClientRequest): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response: IncomingMessage) => {
      let text = '';
      const answered = () => {
        resolve({ status: response.statusCode ?? 0, text });
      };
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length >= MAX_ANSWER_CHARACTERS) answered();
      });
      response.on('end', answered);
      response.on('error', reject);
    });
  });
}

async function aborting<Result>(
  request: ClientRequest,
  signal: AbortSignal,
  work: Promise<Result>,
): Promise<Result> {
  signal.addEventListener('abort', () => request.destroy(new Error('given up')), { once: true });
  return work;
}
