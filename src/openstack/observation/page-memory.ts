/**
 * Caches the parsed result of each list page. In an idle project pages are identical byte for byte, and parsing
 * thousands of unchanged objects is most of the work of a poll. The bytes themselves are kept, because comparing them
 * costs a twentieth of a digest.
 */
export class PageMemory {
  #pages: RememberedPage[] = [];
  #index = 0;

  /** Starts another pass from the first page. */
  rewind(): void {
    this.#index = 0;
  }

  /** Returns the cached result of this page if its bytes are unchanged. */
  recall(body: Uint8Array): RememberedPage | undefined {
    const known = this.#pages[this.#index];
    if (known === undefined || !sameBytes(known.body, body)) return undefined;
    this.#index++;
    return known;
  }

  /** Stores a changed page. */
  remember(page: RememberedPage): void {
    this.#pages[this.#index++] = page;
  }

  /** Ends the pass and drops later pages. */
  end(): void {
    this.#pages.length = this.#index;
  }

  /** Clears the cache when the known state no longer comes from these pages alone. */
  forget(): void {
    this.#pages = [];
    this.#index = 0;
  }
}

export interface RememberedPage {
  readonly body: Uint8Array;
  readonly ids: readonly string[];
  /** query of the next page */
  readonly next: string | undefined;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(b);
}
