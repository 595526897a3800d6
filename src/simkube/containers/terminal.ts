const interrupt = '\u0003';
const endOfInput = '\u0004';
const backspaces: ReadonlySet<string> = new Set(['\u007f', '\b']);

/** The line discipline of a terminal: echoes input, supports corrections, and yields whole lines. */
export async function* typedLines(
  typed: AsyncIterable<string>,
  show: (text: string) => void,
): AsyncGenerator<string, void> {
  let line = '';
  for await (const text of typed) {
    for (const character of text) {
      if (character === '\r' || character === '\n') {
        show('\r\n');
        yield `${line}\n`;
        line = '';
      } else if (character === interrupt) {
        show('^C\r\n');
        line = '';
        yield '\n';
      } else if (character === endOfInput) {
        if (line === '') return;
      } else if (backspaces.has(character)) {
        if (line === '') continue;
        line = [...line].slice(0, -1).join('');
        show('\b \b');
      } else if (character >= ' ') {
        line += character;
        show(character);
      }
    }
  }
}

/** Converts text to terminal output. */
export function onScreen(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}

/** Decodes bytes to text. A character may span two chunks. */
export async function* textOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  for await (const piece of bytes) {
    const text = decoder.decode(piece, { stream: true });
    if (text !== '') yield text;
  }
}
