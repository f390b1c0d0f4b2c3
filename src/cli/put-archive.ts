import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { SkillError } from '../core/errors.ts';

/** Small enough that a progress bar moves on a slow line. */
const CHUNK_BYTES = 64 * 1024;
const IDLE_MILLISECONDS = 60_000;

/**
 * PUTs bytes to a signed URL, telling how many have gone out. With its length declared, as signed: `fetch` would send a
 * stream chunked.
 *
 * @throws SkillError unavailable (try again), forbidden (the URL is not valid or has expired)
 */
export async function putArchive(
  url: string,
  headers: Readonly<Record<string, string>>,
  bytes: Uint8Array,
  onProgress: (sent: number) => void,
): Promise<void> {
  const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const open = url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = open(url, {
      method: 'PUT',
      headers: { ...headers, 'content-length': bytes.length },
      timeout: IDLE_MILLISECONDS,
    });
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error('The bucket does not answer.')));
    request.on('response', (response: IncomingMessage) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text: body });
      });
    });
    let sent = 0;
    const next = (): void => {
      if (request.destroyed) return;
      if (sent >= bytes.length) {
        request.end();
        return;
      }
      const chunk = bytes.subarray(sent, sent + CHUNK_BYTES);
      request.write(chunk, () => {
        sent += chunk.length;
        onProgress(sent);
        next();
      });
    };
    next();
  }).catch((error: unknown) => {
    throw new SkillError('unavailable', {
      detail: `${new URL(url).host} broke off the upload.`,
      cause: error,
    });
  });
  if (status >= 200 && status < 300) return;
  const said = /<Code>([^<]{1,80})<\/Code>/.exec(text)?.[1] ?? /"code":"([a-z_]{1,80})"/.exec(text)?.[1];
  const detail = `The bucket answered ${status}${said === undefined ? '' : ` (${said})`}.`;
  throw new SkillError(status === 403 ? 'forbidden' : 'unavailable', { detail });
}
