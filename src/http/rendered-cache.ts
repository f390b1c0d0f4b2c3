import { LRUCache } from 'lru-cache';

/** An answer made of an immutable catalog. */
export interface Rendered {
  readonly body: string;
  readonly length: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** Answers by tenant, catalog digest and query: immutable, so never stale; bounded. */
export interface RenderedCache {
  get(key: readonly string[], render: () => Omit<Rendered, 'length'>): Rendered;
}

const MAX_BYTES = 32 * 1024 * 1024;

export function renderedCache(): RenderedCache {
  const known = new LRUCache<string, Rendered>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ length }) => length + 500,
  });
  return {
    get(parts, render) {
      const key = JSON.stringify(parts);
      const held = known.get(key);
      if (held !== undefined) return held;
      const made = render();
      const rendered = { ...made, length: Buffer.byteLength(made.body, 'utf8') };
      known.set(key, rendered);
      return rendered;
    },
  };
}
