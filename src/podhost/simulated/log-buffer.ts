import type { LogLine } from '../types.ts';

/** Lines kept of one run of a container; a kubelet rotates by size, which nobody would notice here. */
const maxLines = 2_000;

/** What a container says, the newest lines of it. */
export class LogBuffer {
  #lines: LogLine[] = [];
  readonly #listeners = new Set<(line: LogLine) => void>();

  add(at: number, text: string): void {
    for (const part of text.replace(/\n$/, '').split('\n')) {
      const line = { at, text: part };
      this.#lines.push(line);
      if (this.#lines.length > maxLines) this.#lines = this.#lines.slice(maxLines / 2);
      for (const listener of this.#listeners) listener(line);
    }
  }

  lines(): readonly LogLine[] {
    return this.#lines;
  }

  onLine(callback: (line: LogLine) => void): () => void {
    this.#listeners.add(callback);
    return () => this.#listeners.delete(callback);
  }
}
