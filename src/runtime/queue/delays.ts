import type { Clock } from '../../machinery/index.ts';
import { DelayHeap } from './delay-heap.ts';

interface Delayed<P> {
  key: string;
  dueAt: number;
  priority: P;
}

/** Delayed keys: each once, at the earliest requested time. */
export class Delays<P> {
  readonly #clock: Clock;
  readonly #onDue: (key: string, priority: P) => void;
  readonly #wanted = new Map<string, Delayed<P>>();
  readonly #heap = new DelayHeap<Delayed<P>>();
  #cancelTimer: (() => void) | undefined;
  #timerDueAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, onDue: (key: string, priority: P) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#wanted.size;
  }

  /** `merge` combines two requested priorities */
  add(key: string, ms: number, priority: P, merge: (one: P, other: P) => P): void {
    const dueAt = this.#clock.now() + ms;
    const present = this.#wanted.get(key);
    const merged = present ? merge(present.priority, priority) : priority;
    if (present && present.dueAt <= dueAt) {
      present.priority = merged;
      return;
    }
    const entry = { key, dueAt, priority: merged };
    this.#wanted.set(key, entry);
    this.#heap.push(entry);
    this.#armTimer();
  }

  delete(key: string): void {
    this.#wanted.delete(key);
  }

  clear(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#wanted.clear();
  }

  #armTimer(): void {
    // Replaced and cancelled entries stay in the heap until they reach the top.
    let top = this.#heap.peek();
    while (top && this.#wanted.get(top.key) !== top) {
      this.#heap.pop();
      top = this.#heap.peek();
    }
    if (this.#cancelTimer && top && this.#timerDueAt <= top.dueAt) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (!top) return;
    this.#timerDueAt = top.dueAt;
    this.#cancelTimer = this.#clock.after(Math.max(0, top.dueAt - this.#clock.now()), () => {
      this.#cancelTimer = undefined;
      this.#handOver();
      this.#armTimer();
    });
  }

  #handOver(): void {
    const now = this.#clock.now();
    for (let due = this.#heap.peek(); due && due.dueAt <= now; due = this.#heap.peek()) {
      this.#heap.pop();
      if (this.#wanted.get(due.key) !== due) continue;
      this.#wanted.delete(due.key);
      this.#onDue(due.key, due.priority);
    }
  }
}
