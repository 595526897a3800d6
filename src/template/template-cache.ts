import type { Definition } from './syntax/index.ts';

/** Maximum size of cached templates in characters, enough for some large charts. */
const defaultMaxCharacters = 8 * 1024 * 1024;

/** Cache of parsed templates by name and text, because the same charts are rendered repeatedly. */
export class TemplateCache {
  readonly #maxCharacters: number;
  readonly #read = new Map<string, { readonly text: string; readonly definitions: readonly Definition[] }>();
  #characters = 0;

  constructor(maxCharacters: number = defaultMaxCharacters) {
    this.#maxCharacters = maxCharacters;
  }

  get(name: string, text: string): readonly Definition[] | undefined {
    const found = this.#read.get(name);
    if (found?.text !== text) return undefined;
    this.#read.delete(name);
    this.#read.set(name, found);
    return found.definitions;
  }

  set(name: string, text: string, definitions: readonly Definition[]): void {
    this.#forget(name);
    this.#read.set(name, { text, definitions });
    this.#characters += name.length + text.length;
    for (const oldest of this.#read.keys()) {
      if (this.#characters <= this.#maxCharacters) break;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    const found = this.#read.get(name);
    if (!found) return;
    this.#read.delete(name);
    this.#characters -= name.length + found.text.length;
  }
}
