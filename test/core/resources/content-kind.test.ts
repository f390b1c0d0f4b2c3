import { crc32, deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { SkillError } from '../../../src/core/errors.ts';
import { classifyContent, mimeTypeOf } from '../../../src/core/resources/content-kind.ts';

const bytes = (...parts: (string | readonly number[] | Uint8Array)[]): Uint8Array =>
  new Uint8Array(
    Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
    ),
  );
const text = (content: string): Uint8Array => new Uint8Array(Buffer.from(content));

const u32 = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
const chunk = (type: string, data: readonly number[] | Uint8Array) =>
  bytes(u32(data.length), type, data, u32(crc32(bytes(type, data))));

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const IHDR = chunk('IHDR', [...u32(1), ...u32(1), 8, 6, 0, 0, 0]);
const IDAT = chunk('IDAT', deflateSync(Buffer.alloc(5)));
const png = bytes(PNG_SIGNATURE, IHDR, IDAT, chunk('IEND', []));
const animatedPng = bytes(
  PNG_SIGNATURE,
  IHDR,
  chunk('acTL', [...u32(1), ...u32(0)]),
  IDAT,
  chunk('IEND', []),
);
const jpeg = bytes([0xff, 0xd8, 0xff, 0xe0, 0, 16], 'JFIF', [0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 0xff, 0xd9]);
const gif = bytes(
  'GIF89a',
  [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0x3b],
);
const webp = bytes(
  'RIFF',
  [26, 0, 0, 0],
  'WEBPVP8L',
  [13, 0, 0, 0, 0x2f, 0, 0, 0, 0x10, 7, 16, 17, 17, 0x88, 0x88, 0xfe, 7, 0],
);
const pdf = bytes('%PDF-1.4\n%', [0xe2, 0xe3, 0xcf, 0xd3], '\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n');

async function kindOf(path: string, content: Uint8Array): Promise<string> {
  try {
    const { kind, mime_type } = await classifyContent(path, content);
    return `${kind} ${mime_type}`;
  } catch (error) {
    if (error instanceof SkillError) return error.code;
    throw error;
  }
}

describe('[J13] what content is', () => {
  const TEXT: readonly (readonly [path: string, content: string, mime: string])[] = [
    ['a.md', 'BM is a short note', 'text/markdown'],
    ['a.md', 'GIF is a format', 'text/markdown'],
    ['a.md', '%PDF markers', 'text/markdown'],
    ['a.txt', 'PK', 'text/plain'],
    ['a.md', '', 'text/markdown'],
    ['empty', '', 'text/plain'],
    ['a.md', '\ufeffwith a mark', 'text/markdown'],
    ['a.md', '漢字 🦆', 'text/markdown'],
    ['a.svg', '<svg onload="x()"/>', 'image/svg+xml'],
    ['a.html', '<p>', 'text/html'],
    ['a.json', '{}', 'application/json'],
    ['scripts/run.py', 'print()', 'text/plain'],
    ['a.ts', 'const x = 1;', 'text/plain'],
    ['Makefile', 'all:', 'text/plain'],
    ['.gitignore', 'x', 'text/plain'],
    ['a.ttf', 'text in a font name', 'text/plain'],
  ];
  test.each(TEXT)('[J13] %s holding %j is text', async (path, content, mime) => {
    expect(await classifyContent(path, text(content))).toEqual({
      kind: 'text',
      mime_type: mime,
      text: content,
    });
    expect(mimeTypeOf(path, text(content))).toBe(mime);
  });

  const SIGNED: readonly (readonly [
    what: string,
    content: Uint8Array,
    paths: readonly string[],
    kind: string,
  ])[] = [
    ['PNG', png, ['assets/a.png', 'A.PNG', 'no-extension'], 'image image/png'],
    ['animated PNG', animatedPng, ['a.png'], 'image image/png'],
    ['JPEG', jpeg, ['a.jpg', 'a.jpeg', 'a.JPG'], 'image image/jpeg'],
    ['GIF', gif, ['a.gif'], 'image image/gif'],
    ['WebP', webp, ['a.webp'], 'image image/webp'],
    ['PDF', pdf, ['a.pdf'], 'file application/pdf'],
  ];
  test.each(SIGNED)('[J13] a %s under its own extension', async (_, content, paths, kind) => {
    for (const path of paths) expect(await kindOf(path, content)).toBe(kind);
  });

  test.each(SIGNED)(
    '[J13] a %s under the extension of another format is refused',
    async (_, content, [own = '']) => {
      const others = ['a.png', 'a.jpg', 'a.gif', 'a.webp', 'a.pdf', 'a.ttf', 'a.zip', 'a.md', 'a.json'];
      const extension = own.slice(own.lastIndexOf('.'));
      for (const path of others.filter((one) => !one.endsWith(extension))) {
        expect(await kindOf(path, content), path).toBe('signature_mismatch');
      }
    },
  );

  test.each([
    ['a PNG that is cut off and broken', bytes([0x89, 0x50, 0x4e, 0x47, 0xff])],
    ['text', text('not an image')],
    ['SVG', text('<svg/>')],
    ['nothing', new Uint8Array()],
    ['zeros', new Uint8Array(64)],
  ])('[J13] %s is no image and no PDF, whatever the extension', async (_, content) => {
    for (const path of ['a.png', 'a.jpg', 'a.gif', 'a.webp', 'a.pdf']) {
      expect(await kindOf(path, content), path).toBe('signature_mismatch');
    }
  });

  test.each([
    ['a NUL in text', 'a.md', text('a\u0000b'), 'file application/octet-stream'],
    ['UTF-16', 'a.md', bytes([0xff, 0xfe, 0x41, 0]), 'file application/octet-stream'],
    ['Latin-1', 'a.txt', bytes('caf', [0xe9]), 'file application/octet-stream'],
    ['a bitmap named as text', 'a.md', bytes('BM', [0, 0xff]), 'file application/octet-stream'],
    ['a font', 'assets/a.woff2', bytes('wOF2', [0, 1, 0, 0, 0xff]), 'file font/woff2'],
    ['another font', 'a.ttf', bytes([0, 1, 0, 0, 0, 4, 0]), 'file font/ttf'],
    ['a zip', 'a.zip', bytes('PK', [3, 4, 20, 0, 0, 0, 0xff]), 'file application/zip'],
    ['an unknown format', 'a.xyzzy', bytes([0, 1, 2, 0xff]), 'file application/octet-stream'],
    ['no extension', 'data', bytes([0, 1, 2, 0xff]), 'file application/octet-stream'],
  ])('[J13] %s is a file', async (_, path, content, kind) => {
    expect(await kindOf(path, content)).toBe(kind);
    expect(`file ${mimeTypeOf(path, content)}`).toBe(kind);
  });
});
