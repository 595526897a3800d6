/** Style of a scalar. Each style has its own rule for line breaks. */
export type ScalarStyle = 'plain' | 'single' | 'double';

/**
 * Folds the text of a scalar as go-yaml does: at the first single space after the width is exceeded, so that the text
 * is read back unchanged. `written` is the escaped form of each character, `column` the start of the text.
 */
export function foldScalar(
  text: string,
  style: ScalarStyle,
  written: (rune: string) => string,
  { column, indent, width }: { column: number; indent: string; width: number },
): string {
  const runes = [...text];
  let result = '';
  let at = column;
  let isAfterSpace = false;
  for (const [index, rune] of runes.entries()) {
    const isInside = style === 'plain' || (index > 0 && index < runes.length - 1);
    const isBeforeSpace = runes[index + 1] === ' ';
    if (rune === ' ' && !isAfterSpace && at > width && isInside && (style === 'double' || !isBeforeSpace)) {
      // A space at the start of a line of a quoted text is kept only after a backslash.
      const mark = style === 'double' && isBeforeSpace ? '\\' : '';
      result += `\n${indent}${mark}`;
      at = indent.length + mark.length;
    } else {
      const piece = written(rune);
      result += piece;
      at += [...piece].length;
    }
    isAfterSpace = rune === ' ';
  }
  return result;
}
