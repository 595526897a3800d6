import { createHash } from 'node:crypto';

/**
 * Remembers what each page of a list looked like, as a digest. At rest pages come back byte for byte the same, and reading
 * thousands of objects to find that nothing changed is most of the work a poll does.
 */
export class PageMemory {
  #pages: { digest: string; ids: readonly string[]; next: string | undefined }[] = [];
  #index = 0;

  /** Begins another pass from the first page. */
  rewind(): void {
    this.#index = 0;
  }

  /** The ids on this page and the query of the next one, when it is the same as last time. */
  recall(body: Uint8Array): { ids: readonly string[]; next: string | undefined; digest: string } | { digest: string } {
    const digest = createHash('sha1').update(body).digest('base64');
    const known = this.#pages[this.#index];
    if (known?.digest !== digest) return { digest };
    this.#index++;
    return known;
  }

  /** Notes a page that is not the same. */
  remember(digest: string, ids: readonly string[], next: string | undefined): void {
    this.#pages[this.#index++] = { digest, ids, next };
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
