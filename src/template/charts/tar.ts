import { TemplateError } from '../errors.ts';

export interface TarFile {
  readonly path: string;
  readonly content: Uint8Array;
}

const blockSize = 512;
const nothing = new Uint8Array();

/**
 * Reads the regular files of a tar archive (ustar, pax and GNU names). Skips directories and refuses links and devices.
 */
export function* readTar(bytes: Uint8Array): Generator<TarFile> {
  let longPath: string | undefined;
  let longSize: number | undefined;
  let at = 0;
  while (at + blockSize <= bytes.length) {
    const header = bytes.subarray(at, at + blockSize);
    if (header.every((byte) => byte === 0)) return;
    checkSum(header);
    const type = String.fromCharCode(header[156] ?? 0);
    const size = (isData(type) ? longSize : undefined) ?? number(header, 124, 12);
    at += blockSize;
    if (!(size >= 0) || at + size > bytes.length) throw new TemplateError('tar: unexpected end of archive');
    const content = size === 0 ? nothing : bytes.subarray(at, at + size);
    at += Math.ceil(size / blockSize) * blockSize;
    switch (type) {
      case 'x': {
        const records = paxRecords(content);
        longPath = records.get('path') ?? longPath;
        const given = records.get('size');
        longSize = given === undefined ? longSize : Number(given);
        continue;
      }
      case 'L':
        longPath = text(content, 0, content.length);
        continue;
      case 'g':
      case 'K':
        continue;
    }
    const path = longPath ?? headerPath(header);
    longPath = undefined;
    longSize = undefined;
    if (type === '5' || (isData(type) && path.endsWith('/'))) continue;
    if (!isData(type)) {
      throw new TemplateError(`archive has ${describe(type)}: ${JSON.stringify(path)}; only files are allowed`);
    }
    yield { path, content };
  }
  if (at === 0) throw new TemplateError('tar: unexpected end of archive');
}

const isData = (type: string): boolean => type === '0' || type === '\0' || type === '7';

const kinds: Readonly<Record<string, string>> = {
  '1': 'a link',
  '2': 'a symbolic link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a pipe',
};
const describe = (type: string): string => kinds[type] ?? `an entry of unknown type ${JSON.stringify(type)}`;

function text(bytes: Uint8Array, from: number, length: number): string {
  const part = bytes.subarray(from, from + length);
  const end = part.indexOf(0);
  return Buffer.from(end < 0 ? part : part.subarray(0, end)).toString('utf8');
}

function number(header: Uint8Array, from: number, length: number): number {
  // Numbers too large for octal digits are binary, marked by the highest bit.
  if (((header[from] ?? 0) & 0x80) !== 0) {
    let value = (header[from] ?? 0) & 0x7f;
    for (let i = 1; i < length; i++) value = value * 256 + (header[from + i] ?? 0);
    return value;
  }
  const digits = text(header, from, length).trim();
  if (digits === '') return 0;
  if (!/^[0-7]+$/.test(digits)) throw new TemplateError('tar: invalid header');
  return Number.parseInt(digits, 8);
}

function checkSum(header: Uint8Array): void {
  let sum = 0;
  for (let i = 0; i < blockSize; i++) sum += i >= 148 && i < 156 ? 0x20 : (header[i] ?? 0);
  if (sum !== number(header, 148, 8)) throw new TemplateError('tar: invalid header');
}

function headerPath(header: Uint8Array): string {
  const name = text(header, 0, 100);
  const isUstar = text(header, 257, 5) === 'ustar' && header[262] === 0;
  const prefix = isUstar ? text(header, 345, 155) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

/** Parses pax records such as `30 path=a/long/name\n…`. */
function paxRecords(content: Uint8Array): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const length = space < 0 ? Number.NaN : Number(text(content, at, space - at));
    if (!(length > space - at) || at + length > content.length) throw new TemplateError('tar: invalid header');
    const record = Buffer.from(content.subarray(space + 1, at + length - 1)).toString('utf8');
    const equals = record.indexOf('=');
    if (equals > 0) records.set(record.slice(0, equals), record.slice(equals + 1));
    at += length;
  }
  return records;
}
