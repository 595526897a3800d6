import { paint, type Span } from './colour.ts';

export type Cell = readonly Span[];

/** Renders columns two spaces apart, as wide as their widest cell, without trailing spaces. */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  { colour }: { colour: boolean },
): string {
  const widths = header.map((title) => title.length);
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cellWidth(cell));
    });
  }
  const lines = [header.map((title) => [{ text: title, tone: 'plain' as const }]), ...rows].map((row) => {
    let last = row.length - 1;
    while (last >= 0 && cellWidth(row[last] ?? []) === 0) last--;
    return row
      .slice(0, last + 1)
      .map((cell, column) => {
        const padding = column === last ? 0 : (widths[column] ?? 0) - cellWidth(cell) + gap;
        return paint(cell, { colour }) + ' '.repeat(padding);
      })
      .join('');
  });
  return `${lines.join('\n')}\n`;
}

const gap = 2;

function cellWidth(cell: Cell): number {
  let width = 0;
  // Counts code points, which is accurate enough because names and messages are mostly ASCII.
  for (const { text } of cell) width += [...text].length;
  return width;
}
