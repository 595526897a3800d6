/** CEL counts strings in code points, JavaScript in UTF-16 units. Without surrogates the counts are equal. */

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

/** Converts a UTF-16 offset to a code point offset. */
export function runeOffset(text: string, offset: number): number {
  return offset <= 0 ? offset : runeLength(text.slice(0, offset));
}

/** Converts a code point offset to a UTF-16 offset. */
export function unitOffset(text: string, offset: number): number {
  return surrogates.test(text) ? [...text].slice(0, offset).join('').length : offset;
}
