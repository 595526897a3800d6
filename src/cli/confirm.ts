import { createInterface } from 'node:readline/promises';

/** Asks a yes/no question; any answer but yes, and the end of input, mean no. */
export function confirmOnTerminal(
  stderr: (text: string) => void,
  signal: AbortSignal,
): (question: string) => Promise<boolean> {
  return async (question) => {
    const lines = createInterface({ input: process.stdin, terminal: false });
    try {
      stderr(`${question} [y/N] `);
      const answer = new Promise<string>((resolve) => {
        lines.once('line', resolve);
        lines.once('close', () => resolve(''));
        signal.addEventListener('abort', () => resolve(''), { once: true });
      });
      return /^\s*y(?:es)?\s*$/i.test(await answer);
    } finally {
      lines.close();
    }
  };
}
