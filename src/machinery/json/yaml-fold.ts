/** How a scalar is written; each way has its own rule for where a line may end. */
export type ScalarStyle = 'plain' | 'single' | 'double';

/**
 * Breaks the text of a scalar as go-yaml does: at the first lone space after the width is passed, so that the words still
 * fit when they are read back. `written` is what stands for each character, `column` where the text begins.
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
      // A space that begins a line of a quoted text needs a backslash to be kept.
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
