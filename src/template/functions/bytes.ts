// Go's strings are bytes, so lengths and offsets of functions count bytes.

const ascii = /^[\0-\x7f]*$/;

export const isAscii = (value: string): boolean => ascii.test(value);

export function byteLength(value: string): number {
  return Buffer.byteLength(value);
}

/** Slices by byte offsets. A split character becomes the replacement character. */
export function byteSlice(value: string, from: number, to: number): string {
  return isAscii(value) ? value.slice(from, to) : Buffer.from(value).subarray(from, to).toString('utf8');
}
