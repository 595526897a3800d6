/**
 * Remembers what each page of a list looked like. At rest pages come back byte for byte the same, and reading thousands of
 * objects to find that nothing changed is most of the work a look does. The bytes themselves are kept: comparing them costs
 * a twentieth of what a digest would.
 */
export class PageMemory {
  #pages: RememberedPage[] = [];
  #index = 0;

  /** Begins another pass from the first page. */
  rewind(): void {
    this.#index = 0;
  }

  /** What is known of this page, when it is the same as last time. */
  recall(body: Uint8Array): RememberedPage | undefined {
    const known = this.#pages[this.#index];
    if (known === undefined || !sameBytes(known.body, body)) return undefined;
    this.#index++;
    return known;
  }

  /** Notes a page that is not the same. */
  remember(page: RememberedPage): void {
    this.#pages[this.#index++] = page;
  }

  /** Ends the pass: pages beyond are of the past. */
  end(): void {
    this.#pages.length = this.#index;
  }

  /** What is known no longer stems from these pages alone. */
  forget(): void {
    this.#pages = [];
    this.#index = 0;
  }
}

export interface RememberedPage {
  readonly body: Uint8Array;
  readonly ids: readonly string[];
  /** the query of the page that follows */
  readonly next: string | undefined;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(b);
}
