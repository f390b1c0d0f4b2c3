import type { Hono } from 'hono';
import type { AppEnv } from '../../src/http/route.ts';

/** What may stand in no log line, whatever a test does [D7]. */
export interface WatchedLogs {
  /** The app, with an eye on what its callers send and receive. */
  watch(app: Hono<AppEnv>): Hono<AppEnv>;
  add(secret: string): void;
  /** Of each thing found, where it stood. */
  leaks(lines: readonly Record<string, unknown>[]): string[];
}

/** Recognized by their form, wherever they came from. */
const SECRET_FORMS: readonly (readonly [what: string, form: RegExp])[] = [
  ['a key', /sb_[a-z0-9]{12}_[A-Za-z0-9-]{43}/],
  ['a credential', /bearer\s+\S/i],
  ['a token', /eyJ[\w-]{10,}\.[\w-]+\.[\w-]*/],
  ['a signature of a URL', /signature=/i],
  ['a SKILL.md', /---\r?\n\s*(?:name|description):/],
];
/** Shorter ones stand in a line by accident. */
const MIN_SECRET_CHARS = 16;

export function watchedLogs(): WatchedLogs {
  const secrets = new Set<string>();
  const add = (secret: string) => {
    if (secret.length >= MIN_SECRET_CHARS) secrets.add(secret);
  };
  return {
    add,
    watch(app) {
      const plain = app.request;
      app.request = async (input, init, ...rest) => {
        const sent = new Headers(init?.headers);
        add((sent.get('authorization') ?? '').replace(/^\S+\s+/, ''));
        if (typeof init?.body === 'string') add(init.body);
        const answer = await plain(input, init, ...rest);
        // Only what issues a secret is read twice: others' answers stay as they were sent.
        if (init?.method === 'POST' && answer.headers.get('content-type')?.startsWith('application/json')) {
          const issued = (await answer.clone().json()) as Record<string, unknown> | null;
          for (const secret of [issued?.['key'], issued?.['url']]) {
            if (typeof secret === 'string') add(secret);
          }
        }
        return answer;
      };
      return app;
    },
    leaks(lines) {
      return lines.flatMap((line) => {
        const texts = textsOf(line);
        const found = [
          ...SECRET_FORMS.filter(([, form]) => texts.some((text) => form.test(text))).map(([what]) => what),
          ...[...secrets].filter((secret) => texts.some((text) => text.includes(secret))),
        ];
        return found.map((what) => `${what} in ${JSON.stringify(line)}`);
      });
    },
  };
}

/** Every text of a line, as it was before it became JSON. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsOf(inner)]);
}
