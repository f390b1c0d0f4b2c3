import { LRUCache } from 'lru-cache';

/** An answer made of an immutable catalog. */
export interface Rendered {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers by tenant, catalog digest and query: immutable, so never stale; bounded. Kept as the bytes to be sent. */
export interface RenderedCache {
  get(
    key: readonly string[],
    render: () => { readonly body: string; readonly headers: Rendered['headers'] },
  ): Rendered;
}

const MAX_BYTES = 32 * 1024 * 1024;

export function renderedCache(): RenderedCache {
  const known = new LRUCache<string, Rendered>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }) => body.length + 500,
  });
  return {
    get(parts, render) {
      const key = JSON.stringify(parts);
      const held = known.get(key);
      if (held !== undefined) return held;
      const { body, headers } = render();
      const rendered = { body: Buffer.from(body, 'utf8'), headers };
      known.set(key, rendered);
      return rendered;
    },
  };
}
