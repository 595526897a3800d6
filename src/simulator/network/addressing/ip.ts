/** 4 or 6. */
export type IpVersion = 4 | 6;

/** An address as a number of its family. */
export interface Ip {
  readonly version: IpVersion;
  readonly value: bigint;
}

/** Addresses a family has room for. */
export const bitsOf: Readonly<Record<IpVersion, number>> = { 4: 32, 6: 128 };

/** Reads an address in its usual notation; undefined when it is none. */
export function parseIp(text: string): Ip | undefined {
  return text.includes(':') ? parseIp6(text) : parseIp4(text);
}

/** The usual notation: IPv6 in lower case with the longest run of zeros left out. */
export function formatIp({ version, value }: Ip): string {
  return version === 4 ? formatIp4(Number(value)) : formatIp6(value);
}

/** The same address in the usual notation, or undefined when the text is none. */
export function canonicalIp(text: string): string | undefined {
  const ip = parseIp(text);
  return ip && formatIp(ip);
}

function parseIp4(text: string): Ip | undefined {
  let value = 0;
  let part = 0;
  let digits = 0;
  let dots = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 48 && code <= 57) {
      part = part * 10 + code - 48;
      if (++digits > 3 || part > 255) return undefined;
    } else if (code === 46) {
      if (digits === 0 || ++dots > 3) return undefined;
      value = value * 256 + part;
      part = 0;
      digits = 0;
    } else {
      return undefined;
    }
  }
  if (dots !== 3 || digits === 0) return undefined;
  return { version: 4, value: BigInt(value * 256 + part) };
}

function formatIp4(value: number): string {
  return `${Math.floor(value / 0x1000000)}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

function parseIp6(text: string): Ip | undefined {
  const gap = text.indexOf('::');
  const head = gap < 0 ? text : text.slice(0, gap);
  const tail = gap < 0 ? undefined : text.slice(gap + 2);
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  if (!before || !after) return undefined;
  const missing = 8 - before.length - after.length;
  if (gap < 0 ? missing !== 0 : missing < 1) return undefined;
  let value = 0n;
  for (const group of before) value = (value << 16n) | BigInt(group);
  value <<= BigInt(16 * (gap < 0 ? 0 : missing));
  for (const group of after) value = (value << 16n) | BigInt(group);
  return { version: 6, value };
}

/** Groups of sixteen bits; an IPv4 address at the end counts as two. */
function groupsOf(text: string): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    if (i === parts.length - 1 && part.includes('.')) {
      const v4 = parseIp4(part);
      if (!v4) return undefined;
      groups.push(Number(v4.value >> 16n), Number(v4.value & 0xffffn));
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else {
      return undefined;
    }
  }
  return groups;
}

function formatIp6(value: bigint): string {
  const groups: number[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) groups.push(Number((value >> shift) & 0xffffn));
  const [start, length] = longestZeroRun(groups);
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

function longestZeroRun(groups: readonly number[]): [start: number, length: number] {
  let best: [number, number] = [0, 0];
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue;
    if (i - start > best[1]) best = [start, i - start];
    start = i + 1;
  }
  return best;
}
