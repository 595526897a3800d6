import { gzipSync } from 'node:zlib';

export interface TarEntry {
  readonly path: string;
  readonly content?: string | Uint8Array;
  /** type flag: `0` file, `2` symbolic link, `5` directory … */
  readonly type?: string;
  readonly linkTo?: string;
  /** default 0644 */
  readonly mode?: number;
  /** id of user and group; default root */
  readonly owner?: number;
  /** extended attributes of the file */
  readonly attributes?: Readonly<Record<string, Uint8Array>>;
}

/**
 * Builds a tar archive with ustar headers; long paths and attributes get a pax header. Equal entries give equal bytes.
 */
export function tar(entries: readonly TarEntry[]): Uint8Array {
  const blocks: Buffer[] = [];
  for (const entry of entries) {
    const { path, content = '', attributes = {} } = entry;
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const records = Object.entries(attributes).map(([name, value]) => paxRecord(`SCHILY.xattr.${name}`, value));
    if (Buffer.byteLength(path) > 100) records.push(paxRecord('path', Buffer.from(path)));
    if (records.length > 0) {
      const all = Buffer.concat(records);
      blocks.push(header({ path: 'pax', type: 'x' }, all.length), all, padding(all));
    }
    blocks.push(header(entry, bytes.length), Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), padding(bytes));
  }
  blocks.push(Buffer.alloc(1_024));
  return Buffer.concat(blocks);
}

function paxRecord(key: string, value: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
  let length = body.length;
  while (String(length).length + body.length !== length) length = String(length).length + body.length;
  return Buffer.concat([Buffer.from(String(length)), body]);
}

function padding({ length }: Uint8Array): Buffer {
  return Buffer.alloc((512 - (length % 512)) % 512);
}

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

function header({ path, type = '0', linkTo = '', mode = 0o644, owner = 0 }: TarEntry, size: number): Buffer {
  const block = Buffer.alloc(512);
  block.write(path.slice(0, 100), 0);
  block.write(octal(mode, 7), 100);
  block.write(octal(owner, 7), 108);
  block.write(octal(owner, 7), 116);
  block.write(octal(size, 11), 124);
  block.write(octal(0, 11), 136);
  block.write(type, 156);
  block.write(linkTo, 157);
  block.write('ustar\u000000', 257, 'latin1');
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)} `, 148);
  return block;
}

/** Packs a chart like `helm package`: all files below a directory with the chart's name. */
export function packChart(name: string, files: Readonly<Record<string, string>>): Uint8Array {
  return gzipSync(tar(Object.entries(files).map(([path, content]) => ({ path: `${name}/${path}`, content }))));
}
