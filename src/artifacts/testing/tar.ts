import { gzipSync } from 'node:zlib';

export interface TarEntry {
  readonly path: string;
  readonly content?: string | Uint8Array;
  /** the type flag: `0` a file, `2` a symbolic link, `5` a directory … */
  readonly type?: string;
  readonly linkTo?: string;
}

/** A tar archive with ustar headers; long paths get a pax header. */
export function tar(entries: readonly TarEntry[]): Uint8Array {
  const blocks: Buffer[] = [];
  for (const { path, content = '', type = '0', linkTo = '' } of entries) {
    const bytes = Buffer.from(content);
    if (Buffer.byteLength(path) > 100) {
      const record = paxRecord('path', path);
      blocks.push(header('pax', record.length, 'x', ''), padded(record));
    }
    blocks.push(header(path.slice(0, 100), bytes.length, type, linkTo), padded(bytes));
  }
  blocks.push(Buffer.alloc(1_024));
  return Buffer.concat(blocks);
}

function paxRecord(key: string, value: string): Buffer {
  const body = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(body);
  while (String(length).length + Buffer.byteLength(body) !== length)
    length = String(length).length + Buffer.byteLength(body);
  return Buffer.from(`${length}${body}`);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}

function header(path: string, size: number, type: string, linkTo: string): Buffer {
  const block = Buffer.alloc(512);
  block.write(path, 0);
  block.write('0000644\0', 100);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write(type, 156);
  block.write(linkTo, 157);
  block.write('ustar\u000000', 257, 'latin1');
  block.fill(' ', 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A packed chart as `helm package` makes it: all files below a directory with the chart's name. */
export function packChart(name: string, files: Readonly<Record<string, string>>): Uint8Array {
  return gzipSync(tar(Object.entries(files).map(([path, content]) => ({ path: `${name}/${path}`, content }))));
}
