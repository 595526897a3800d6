/** An expression that does not compile; the message points to the place as cel-go does. */
export class CelSourceError extends Error {
  constructor(source: string, at: number, problem: string, isSyntax = false) {
    const before = source.slice(0, at).split('\n');
    const column = before.at(-1)!.length;
    const line = source.split('\n')[before.length - 1] ?? '';
    const text = isSyntax ? `Syntax error: ${problem}` : problem;
    super(
      `ERROR: <input>:${before.length}:${column + 1}: ${text}\n | ${line.replaceAll('\t', ' ')}\n | ${'.'.repeat(column)}^`,
    );
    this.name = 'CelSourceError';
  }
}
