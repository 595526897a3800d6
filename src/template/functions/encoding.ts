import { createHash } from 'node:crypto';
import { trimTrailing } from '../../machinery/index.ts';
import { define, type Library, text } from './function.ts';

const hash = (algorithm: string) =>
  define('string', ([value]) => createHash(algorithm).update(text(value)).digest('hex'));

/** Sprig's encodings and hashes. Decoded bytes that are not UTF-8 become replacement characters. */
export const encodingFunctions: Library = {
  b64enc: define('string', ([value]) => Buffer.from(text(value)).toString('base64')),
  b64dec: define('string', ([value]) => decode64(text(value))),
  b32enc: define('string', ([value]) => encode32(Buffer.from(text(value)))),
  b32dec: define('string', ([value]) => decode32(text(value))),
  sha1sum: hash('sha1'),
  sha256sum: hash('sha256'),
  sha512sum: hash('sha512'),
  adler32sum: define('string', ([value]) => String(adler32(Buffer.from(text(value))))),
};

function decode64(value: string): string {
  const clean = value.replace(/[\r\n]/g, '');
  const wrong = /[^A-Za-z0-9+/]/.exec(clean.replace(/={1,2}$/, ''));
  if (wrong) return `illegal base64 data at input byte ${offset(value, wrong.index)}`;
  if (clean.length % 4 !== 0) return `illegal base64 data at input byte ${illegalLength(clean)}`;
  return Buffer.from(clean, 'base64').toString('utf8');
}

/** Go reports where the incomplete group begins, or the padding without its pair. */
function illegalLength(clean: string): number {
  const padding = clean.indexOf('=');
  if (padding >= 0) return padding % 4 === 2 ? clean.length : padding;
  return clean.length - (clean.length % 4);
}

/** Line breaks are ignored in the input but count in offsets. */
function offset(value: string, index: number): number {
  let seen = 0;
  for (let at = 0; at < value.length; at++) {
    if (value[at] === '\r' || value[at] === '\n') continue;
    if (seen++ === index) return at;
  }
  return value.length;
}

const alphabet32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function encode32(bytes: Buffer): string {
  let result = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) result += alphabet32[(held >> (bits - 5)) & 31];
    held &= (1 << bits) - 1;
  }
  if (bits > 0) result += alphabet32[(held << (5 - bits)) & 31];
  return result.padEnd(Math.ceil(result.length / 8) * 8, '=');
}

function decode32(value: string): string {
  const clean = value.replace(/[\r\n]/g, '');
  const body = trimTrailing(clean, '=');
  const bytes: number[] = [];
  let bits = 0;
  let held = 0;
  for (const [index, char] of [...body].entries()) {
    const digit = alphabet32.indexOf(char);
    if (digit < 0) return `illegal base32 data at input byte ${index}`;
    held = (held << 5) | digit;
    bits += 5;
    if (bits >= 8) {
      bytes.push((held >> (bits - 8)) & 0xff);
      bits -= 8;
    }
    held &= (1 << bits) - 1;
  }
  if (clean.length % 8 !== 0) return `illegal base32 data at input byte ${clean.length}`;
  return Buffer.from(bytes).toString('utf8');
}

function adler32(bytes: Buffer): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return b * 65_536 + a;
}
