/** Who takes from a pool: `exempt` ones are never refused, `system` ones may use a reserve, the others share the rest. */
export type FlowClass = 'exempt' | 'system' | 'ordinary';

export interface FlowUser {
  /** those with one key share what they may have */
  readonly key: string;
  readonly class: FlowClass;
}

/**
 * Something there is only so much of. Nobody may hold more than is still free, so whoever is alone gets up to a half, and
 * however many are greedy, there is always a share left for the next. Controllers may also use a reserve nobody else gets.
 */
export class FairPool {
  readonly #shared: number;
  readonly #reserve: number;
  readonly #held = new Map<string, number>();
  #heldByOrdinary = 0;
  #heldBySystem = 0;

  constructor(size: number) {
    this.#reserve = Math.ceil(size / 4);
    this.#shared = size - this.#reserve;
  }

  /** Takes so much, or nothing and returns false. What was taken must be given back. */
  take(user: FlowUser, amount: number): boolean {
    const held = this.#held.get(user.key) ?? 0;
    if (!this.#mayHold(user.class, held + amount, amount)) return false;
    this.hold(user, amount);
    return true;
  }

  /** Counts what is held already, whether or not there was so much. */
  hold(user: FlowUser, amount: number): void {
    this.#held.set(user.key, (this.#held.get(user.key) ?? 0) + amount);
    if (user.class === 'ordinary') this.#heldByOrdinary += amount;
    else if (user.class === 'system') this.#heldBySystem += amount;
  }

  giveBack(user: FlowUser, amount: number): void {
    const held = (this.#held.get(user.key) ?? 0) - amount;
    if (held > 0) this.#held.set(user.key, held);
    else this.#held.delete(user.key);
    if (user.class === 'ordinary') this.#heldByOrdinary -= amount;
    else if (user.class === 'system') this.#heldBySystem -= amount;
  }

  #mayHold(flowClass: FlowClass, held: number, amount: number): boolean {
    if (flowClass === 'exempt') return true;
    const beyondReserve = Math.max(0, this.#heldBySystem - this.#reserve);
    const free = this.#shared - this.#heldByOrdinary - beyondReserve - amount;
    if (flowClass === 'ordinary') return held <= free;
    return this.#heldBySystem + amount <= this.#reserve || held <= free;
  }
}
