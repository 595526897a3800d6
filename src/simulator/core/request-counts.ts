/** Counts requests by service and method, to measure the load a client causes. */
export class RequestCounts {
  readonly #counts = new Map<string, Map<string, number>>();

  count(service: string, method: string): void {
    let methods = this.#counts.get(service);
    if (!methods) {
      methods = new Map();
      this.#counts.set(service, methods);
    }
    methods.set(method, (methods.get(method) ?? 0) + 1);
  }

  /** Returns for example `{ compute: { GET: 3, POST: 1 } }`. */
  list(): Record<string, Record<string, number>> {
    return Object.fromEntries([...this.#counts].map(([service, methods]) => [service, Object.fromEntries(methods)]));
  }

  get total(): number {
    let sum = 0;
    for (const methods of this.#counts.values()) for (const count of methods.values()) sum += count;
    return sum;
  }

  reset(): void {
    this.#counts.clear();
  }
}
