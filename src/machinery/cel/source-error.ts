import { must } from '../errors/must.ts';

/** A compile error. Its message points to the position as cel-go does. */
export class CelSourceError extends Error {
  constructor(source: string, at: number, problem: string) {
    const before = source.slice(0, at).split('\n');
    const column = must(before.at(-1), 'the last of before').length;
    const line = source.split('\n')[before.length - 1] ?? '';
    super(
      `ERROR: <input>:${before.length}:${column + 1}: ${problem}\n | ${line.replaceAll('\t', ' ')}\n | ${'.'.repeat(column)}^`,
    );
    this.name = 'CelSourceError';
  }
}

/** A syntax error, as opposed to an undeclared reference or a type error. */
export class CelSyntaxError extends CelSourceError {
  constructor(source: string, at: number, problem: string) {
    super(source, at, `Syntax error: ${problem}`);
  }
}
