import type { Change, ChangeListener } from './types.ts';

/** Subscriptions of one resource type. */
export class Listeners<T> {
  readonly #ofAll = new Set<ChangeListener<T>>();
  readonly #ofOne = new Map<string, Set<ChangeListener<T>>>();
  readonly #onFailure: (error: unknown) => void;

  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  get isEmpty(): boolean {
    return this.#ofAll.size === 0 && this.#ofOne.size === 0;
  }

  hasOne(id: string): boolean {
    return this.#ofOne.has(id);
  }

  /** Ids with their own subscribers. */
  ids(): Iterable<string> {
    return this.#ofOne.keys();
  }

  add(listener: ChangeListener<T>, id: string | undefined): void {
    if (id === undefined) {
      this.#ofAll.add(listener);
      return;
    }
    let listeners = this.#ofOne.get(id);
    if (!listeners) {
      listeners = new Set();
      this.#ofOne.set(id, listeners);
    }
    listeners.add(listener);
  }

  remove(listener: ChangeListener<T>, id: string | undefined): void {
    if (id === undefined) {
      this.#ofAll.delete(listener);
      return;
    }
    const listeners = this.#ofOne.get(id);
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#ofOne.delete(id);
  }

  tell(change: Change<T>): void {
    for (const listener of this.#ofAll) this.#call(listener, change);
    for (const listener of this.#ofOne.get(change.id) ?? []) this.#call(listener, change);
  }

  reportOne(listener: ChangeListener<T>, change: Change<T>): void {
    if (this.#ofOne.get(change.id)?.has(listener)) this.#call(listener, change);
  }

  /** A failing listener must not affect others. */
  #call(listener: ChangeListener<T>, change: Change<T>): void {
    try {
      listener(change);
    } catch (error) {
      this.#onFailure(error);
    }
  }
}
