// Go's strings are bytes; lengths and offsets of the functions count them.

const ascii = /^[\0-\x7f]*$/;

export const isAscii = (value: string): boolean => ascii.test(value);

export function byteLength(value: string): number {
  return Buffer.byteLength(value);
}

/** The bytes from one offset to another. A character that is cut becomes the replacement character. */
export function byteSlice(value: string, from: number, to: number): string {
  return isAscii(value) ? value.slice(from, to) : Buffer.from(value).subarray(from, to).toString('utf8');
}
