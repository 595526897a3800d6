/** A binary heap ordered by due time. */
export class DelayHeap<T extends { dueAt: number }> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let index = items.length;
    items.push(item);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = items[parent];
      if (above === undefined || above.dueAt <= item.dueAt) break;
      items[index] = above;
      index = parent;
    }
    items[index] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined || items.length === 0) return top;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      let earlier = items[child];
      if (earlier === undefined) break;
      const right = items[child + 1];
      if (right !== undefined && right.dueAt < earlier.dueAt) {
        earlier = right;
        child++;
      }
      if (earlier.dueAt >= last.dueAt) break;
      items[index] = earlier;
      index = child;
    }
    items[index] = last;
    return top;
  }
}
