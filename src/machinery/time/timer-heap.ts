/** A timer of a clock that is moved by hand. */
export interface Timer {
  due: number;
  /** timers due at the same moment fire in the order they were set */
  sequence: number;
  /** undefined once it was cancelled */
  callback: (() => void) | undefined;
}

/** Below this size the cancelled are not worth clearing away. */
const smallSize = 64;

/** Timers by their due time. Most are cancelled before they are due: those stay until they come up or outnumber the others. */
export class TimerHeap {
  #items: Timer[] = [];
  #cancelled = 0;

  add(timer: Timer): void {
    this.#items.push(timer);
    this.#rise(this.#items.length - 1);
  }

  cancel(timer: Timer): void {
    if (timer.callback === undefined) return;
    timer.callback = undefined;
    this.#cancelled++;
    if (this.#items.length > smallSize && this.#cancelled * 2 > this.#items.length) this.#clearAway();
  }

  /** the next timer that was not cancelled */
  peek(): Timer | undefined {
    let top = this.#items[0];
    while (top && top.callback === undefined) {
      this.#removeTop();
      this.#cancelled--;
      top = this.#items[0];
    }
    return top;
  }

  /** takes the next timer out */
  pop(): Timer | undefined {
    const top = this.peek();
    if (top) this.#removeTop();
    return top;
  }

  #clearAway(): void {
    this.#items = this.#items.filter(({ callback }) => callback !== undefined).sort(compare);
    this.#cancelled = 0;
  }

  #rise(start: number): void {
    const items = this.#items;
    const timer = items[start]!;
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (compare(items[parent]!, timer) <= 0) break;
      items[index] = items[parent]!;
      index = parent;
    }
    items[index] = timer;
  }

  #removeTop(): void {
    const items = this.#items;
    const last = items.pop()!;
    if (items.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && compare(items[child + 1]!, items[child]!) < 0) child++;
      if (compare(items[child]!, last) >= 0) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = last;
  }
}

function compare(a: Timer, b: Timer): number {
  return a.due - b.due || a.sequence - b.sequence;
}
