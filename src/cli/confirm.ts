import { createInterface } from 'node:readline/promises';

/** A question with yes or no for an answer; anything but yes is no, and so is the end of the input. */
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
