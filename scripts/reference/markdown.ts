/** Escapes a table cell: no line breaks or bars. */
function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;').trim();
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export const code = (text: string): string => `\`${text}\``;

export function page(title: string, ...blocks: readonly (string | false | undefined)[]): string {
  const note = '<!-- Written by `npm run docs:reference`. Change the definitions, not this file. -->';
  return `${[`# ${title}`, note, ...blocks.filter((block) => typeof block === 'string' && block !== '')].join('\n\n')}\n`;
}
