/**
 * First come, first served within a group, round robin between groups: a group with a thousand waiting keys delays a
 * single key of another group by one turn only. All operations take constant time.
 */
export class FairLane {
  /** insertion order is the order of turns */
  readonly #groups = new Map<string, Map<string, true>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(key: string, group: string): void {
    let keys = this.#groups.get(group);
    if (!keys) {
      keys = new Map();
      this.#groups.set(group, keys);
    }
    if (keys.has(key)) return;
    keys.set(key, true);
    this.#size++;
  }

  shift(): string | undefined {
    for (const [group, keys] of this.#groups) {
      const key = keys.keys().next().value;
      if (key === undefined) continue;
      keys.delete(key);
      this.#size--;
      this.#groups.delete(group);
      if (keys.size > 0) this.#groups.set(group, keys);
      return key;
    }
    return undefined;
  }

  delete(key: string, group: string): boolean {
    const keys = this.#groups.get(group);
    if (!keys?.delete(key)) return false;
    this.#size--;
    if (keys.size === 0) this.#groups.delete(group);
    return true;
  }
}
