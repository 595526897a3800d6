import { must } from '../errors/must.ts';

/** A timer of a ManualClock. */
export interface Timer {
  due: number;
  /** timers with the same due time fire in the order they were set */
  sequence: number;
  /** undefined once cancelled */
  callback: (() => void) | undefined;
}

/** Below this size, removing cancelled timers is not worthwhile. */
const smallSize = 64;

/**
 * Timers by due time. Most are cancelled before they are due. Cancelled timers stay until they reach the top or
 * outnumber the others.
 */
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

  /** Returns the next timer that is not cancelled. */
  peek(): Timer | undefined {
    let top = this.#items[0];
    while (top && top.callback === undefined) {
      this.#removeTop();
      this.#cancelled--;
      top = this.#items[0];
    }
    return top;
  }

  /** Removes the next timer and returns it. */
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
    const timer = must(items[start], 'a timer');
    let index = start;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex];
      if (!parent || compare(parent, timer) <= 0) break;
      items[index] = parent;
      index = parentIndex;
    }
    items[index] = timer;
  }

  #removeTop(): void {
    const items = this.#items;
    const last = items.pop();
    if (!last || items.length === 0) return;
    let index = 0;
    for (;;) {
      const left = items[2 * index + 1];
      const right = items[2 * index + 2];
      if (!left) break;
      const isRight = right !== undefined && compare(right, left) < 0;
      const child = isRight ? right : left;
      if (compare(child, last) >= 0) break;
      items[index] = child;
      index = 2 * index + (isRight ? 2 : 1);
    }
    items[index] = last;
  }
}

function compare(a: Timer, b: Timer): number {
  return a.due - b.due || a.sequence - b.sequence;
}
