import { must } from '../../machinery/index.ts';
import type { LogLine } from './types.ts';

/** Maximum lines per run of a container. A kubelet rotates by size, but the difference is not noticeable here. */
const maxLines = 2_000;
const maxCharacters = 2 * 1024 * 1024;

/** Log of a container, limited to the newest lines. */
export class LogBuffer {
  #lines: LogLine[] = [];
  #characters = 0;
  readonly #listeners = new Set<(line: LogLine) => void>();

  add(at: number, text: string): void {
    for (const part of text.replace(/\n$/, '').split('\n')) {
      const line = { at, text: part };
      this.#lines.push(line);
      this.#characters += part.length;
      if (this.#lines.length > maxLines || this.#characters > maxCharacters) this.#forgetOldest();
      for (const listener of this.#listeners) listener(line);
    }
  }

  /** Keeps the newer half of the limit. */
  #forgetOldest(): void {
    let from = this.#lines.length;
    let kept = 0;
    while (from > 0 && this.#lines.length - from < maxLines / 2) {
      const { length } = must(this.#lines[from - 1], 'lines[from - 1]').text;
      if (kept > 0 && kept + length > maxCharacters / 2) break;
      kept += length;
      from--;
    }
    this.#lines = this.#lines.slice(from);
    this.#characters = kept;
  }

  lines(): readonly LogLine[] {
    return this.#lines;
  }

  onLine(callback: (line: LogLine) => void): () => void {
    this.#listeners.add(callback);
    return () => this.#listeners.delete(callback);
  }
}
