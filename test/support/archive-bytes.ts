import { crc32, deflateRawSync, gzipSync } from 'node:zlib';

/** Builds zips and tars byte by byte, so that a test can put a lie into every field. */

type Content = string | Uint8Array;

/** A valid zip of regular files. */
export function zipOf(files: Readonly<Record<string, Content>>): Uint8Array {
  return rawZip(Object.entries(files).map(([name, data]) => ({ name, data })));
}

/** A valid gzip-compressed tar of regular files; long paths become pax headers. */
export function tarGzOf(files: Readonly<Record<string, Content>>): Uint8Array {
  return gzip(
    rawTar(
      Object.entries(files).flatMap(([name, data]) =>
        Buffer.byteLength(name) > 100 ? [pax({ path: name }), { name: 'long', data }] : [{ name, data }],
      ),
    ),
  );
}

export const gzip = (bytes: Content): Uint8Array => gzipSync(bytes);

/** What a local or central header says; each value is derived from the data unless given. */
interface ZipHeader {
  readonly name?: Content;
  readonly flags?: number;
  readonly method?: number;
  readonly crc?: number;
  readonly size?: number;
  readonly packedSize?: number;
  readonly extra?: Uint8Array;
}

export interface ZipSpec extends ZipHeader {
  readonly name: Content;
  readonly data?: Content;
  /** Written as they are, in place of the data deflated or stored. */
  readonly packed?: Uint8Array;
  /** The system in the upper byte of "version made by": 3 is Unix, 0 DOS. */
  readonly system?: number;
  /** Unix mode with its file type, in the upper half of the external attributes. */
  readonly unixMode?: number;
  /** Where the local header says something else. */
  readonly local?: ZipHeader;
  /** Bytes between the local header's data and the next entry, as a data descriptor. */
  readonly after?: Uint8Array;
  /** Where the central directory says that the local header is. */
  readonly offset?: number;
}

export interface ZipOptions {
  readonly comment?: string;
  /** The number of entries that the end record declares. */
  readonly count?: number;
  /** With the number, size and offset of the central directory in a zip64 record only. */
  readonly zip64?: boolean;
}

export function rawZip(entries: readonly ZipSpec[], options: ZipOptions = {}): Uint8Array {
  const locals: Uint8Array[] = [];
  const centrals: Uint8Array[] = [];
  let offset = 0;
  for (const entry of entries) {
    const data = Buffer.from(entry.data ?? '');
    const method = entry.method ?? 8;
    const packed = entry.packed ?? (method === 8 ? deflateRawSync(data) : data);
    const central = {
      name: entry.name,
      flags: entry.flags ?? 0x0800,
      method,
      crc: entry.crc ?? crc32(data),
      size: entry.size ?? data.length,
      packedSize: entry.packedSize ?? packed.length,
      extra: entry.extra ?? new Uint8Array(),
    };
    const local = bytesOf(
      u32(0x04034b50),
      u16(20),
      ...commonFields({ ...central, extra: new Uint8Array(), ...entry.local }),
      packed,
      entry.after ?? '',
    );
    locals.push(local);
    centrals.push(
      bytesOf(
        ...[u32(0x02014b50), u16(((entry.system ?? 3) << 8) | 20), u16(20)],
        ...commonFields(
          central,
          [u16(0), u16(0), u16(0)],
          [u32((entry.unixMode ?? 0o100644) * 0x10000), u32(entry.offset ?? offset)],
        ),
      ),
    );
    offset += local.length;
  }
  const directory = bytesOf(...centrals);
  const count = options.count ?? entries.length;
  return bytesOf(...locals, directory, endOfZip(count, directory.length, offset, options));
}

/** The fields that local and central headers share; `between` and `last` stand only in the central one. */
function commonFields(header: Required<ZipHeader>, between: Content[] = [], last: Content[] = []): Content[] {
  const name = Buffer.from(header.name);
  return [
    ...[
      u16(header.flags),
      u16(header.method),
      u32(0),
      u32(header.crc),
      u32(header.packedSize),
      u32(header.size),
    ],
    ...[u16(name.length), u16(header.extra.length), ...between, ...last, name, header.extra],
  ];
}

function endOfZip(count: number, size: number, offset: number, options: ZipOptions): Uint8Array {
  const comment = Buffer.from(options.comment ?? '');
  const zip64 = options.zip64 === true;
  const record = bytesOf(u32(0x06064b50), u64(44), u16(45), u16(45), u32(0), u32(0));
  const wide = bytesOf(record, u64(count), u64(count), u64(size), u64(offset));
  const locator = bytesOf(u32(0x07064b50), u32(0), u64(offset + size), u32(1));
  return bytesOf(
    ...(zip64 ? [wide, locator] : []),
    ...[u32(0x06054b50), u16(0), u16(0)],
    ...(zip64 ? [u16(0xffff), u16(0xffff), u32(0xffffffff), u32(0xffffffff)] : []),
    ...(zip64 ? [] : [u16(count & 0xffff), u16(count & 0xffff), u32(size), u32(offset)]),
    ...[u16(comment.length), comment],
  );
}

export interface TarSpec {
  readonly name: Content;
  readonly data?: Content;
  /** The type flag: '0' file, '1' hard link, '2' symlink, '5' directory, 'x' pax, 'L' GNU long name, … */
  readonly type?: string;
  readonly mode?: number;
  readonly linkname?: string;
  /** The twelve bytes of the size field, or the number to write there. */
  readonly size?: number | Uint8Array;
  /** A number to write in place of the right checksum. */
  readonly checksum?: number;
  readonly magic?: string;
}

/** @param endBlocks zero blocks at the end: two by the standard */
export function rawTar(entries: readonly TarSpec[], endBlocks = 2): Uint8Array {
  return bytesOf(...entries.map(tarEntry), new Uint8Array(endBlocks * 512));
}

function tarEntry(entry: TarSpec): Uint8Array {
  const data = Buffer.from(entry.data ?? '');
  const header = Buffer.alloc(512);
  const size = entry.size ?? data.length;
  header.set(Buffer.from(entry.name).subarray(0, 100), 0);
  header.write(octal(entry.mode ?? 0o644, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.set(typeof size === 'number' ? Buffer.from(octal(size, 11)) : size, 124);
  header.write(octal(0, 11), 136);
  header.fill(' ', 148, 156);
  header.write(entry.type ?? '0', 156);
  header.write(entry.linkname ?? '', 157);
  header.write(entry.magic ?? 'ustar\u000000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(entry.checksum ?? sum, 6)}\u0000`, 148);
  return bytesOf(header, data, new Uint8Array((512 - (data.length % 512)) % 512));
}

/** A pax header for the entry that follows (`type` 'g': for all that follow). */
export function pax(records: Readonly<Record<string, Content>>, type: 'x' | 'g' = 'x'): TarSpec {
  const data = Object.entries(records).map(([key, value]) => {
    const body = bytesOf(` ${key}=`, value, '\n');
    const length = [1, 2, 3, 4, 5, 6].map((digits) => body.length + digits);
    return bytesOf(String(length.find((total, index) => String(total).length === index + 1)), body);
  });
  return { name: 'PaxHeaders/entry', type, data: bytesOf(...data) };
}

/** GNU's way to give the entry that follows a long name. */
export function gnuLongName(name: string): TarSpec {
  return { name: '././@LongLink', type: 'L', data: `${name}\u0000`, magic: 'ustar  ' };
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0');

const bytesOf = (...parts: readonly Content[]): Uint8Array =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part))));

const u16 = (value: number): Uint8Array => little(value, 2);
const u32 = (value: number): Uint8Array => little(value, 4);
const u64 = (value: number): Uint8Array => bytesOf(little(value, 6), u16(0));

function little(value: number, bytes: number): Uint8Array {
  const field = Buffer.alloc(bytes);
  field.writeUIntLE(value, 0, bytes);
  return field;
}
