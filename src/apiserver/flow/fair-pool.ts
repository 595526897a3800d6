/** `exempt` users are never refused, `system` users may use a reserve, and all others share the rest. */
export type FlowClass = 'exempt' | 'system' | 'ordinary';

export interface FlowUser {
  /** users with the same key share one limit */
  readonly key: string;
  readonly class: FlowClass;
}

/**
 * A limited resource that is shared among users. Nobody may hold more than the free rest, so a single user gets at most
 * half, and any number of greedy users leave a share for the next. Only system users may use the reserve.
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

  /** Takes an amount, or takes nothing and returns false. The caller must return taken amounts. */
  take(user: FlowUser, amount: number): boolean {
    const held = this.#held.get(user.key) ?? 0;
    if (!this.#mayHold(user.class, held + amount, amount)) return false;
    this.hold(user, amount);
    return true;
  }

  /** Records an amount that is already in use, even beyond the limit. */
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
