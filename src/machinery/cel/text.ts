/** Strings in CEL are counted in code points. Most have none beyond 16 bits, where JavaScript counts the same way. */

const surrogates = /[\ud800-\udfff]/;

export function runeLength(text: string): number {
  if (!surrogates.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count++;
  return count;
}

export function runeSlice(text: string, start: number, end: number): string {
  return surrogates.test(text) ? [...text].slice(start, end).join('') : text.slice(start, end);
}

/** The code point offset of a UTF-16 offset. */
export function runeOffset(text: string, offset: number): number {
  return offset <= 0 ? offset : runeLength(text.slice(0, offset));
}

/** The UTF-16 offset of a code point offset. */
export function unitOffset(text: string, offset: number): number {
  return surrogates.test(text) ? [...text].slice(0, offset).join('').length : offset;
}
