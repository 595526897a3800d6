/** Group of a row and its amount. With the columns it reads, changes of other columns skip the sum. */
export type SumDefinition<T> =
  | ((row: T) => SumPart | undefined)
  | { readonly of: readonly (keyof T)[]; readonly part: (row: T) => SumPart | undefined };

export interface SumPart {
  readonly key: string;
  readonly amount: number;
}

/** Total per group over all rows, kept up to date with every change. */
export class TableSum<T extends object> {
  readonly name: string;
  readonly of: readonly (keyof T)[] | undefined;
  readonly #part: (row: T) => SumPart | undefined;
  readonly #totals = new Map<string, number>();

  constructor(name: string, definition: SumDefinition<T>) {
    this.name = name;
    this.of = typeof definition === 'function' ? undefined : definition.of;
    this.#part = typeof definition === 'function' ? definition : definition.part;
  }

  total(key: string): number {
    return this.#totals.get(key) ?? 0;
  }

  add(row: T): void {
    const part = this.#part(row);
    if (part) this.#change(part.key, part.amount);
  }

  subtract(row: T): void {
    const part = this.#part(row);
    if (part) this.#change(part.key, -part.amount);
  }

  #change(key: string, amount: number): void {
    if (amount === 0) return;
    const total = (this.#totals.get(key) ?? 0) + amount;
    if (total === 0) this.#totals.delete(key);
    else this.#totals.set(key, total);
  }
}
