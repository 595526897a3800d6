import { type Clock, deepEqual, must, type UnstructuredObject } from '../../machinery/index.ts';
import type { Store, StoreEvent } from '../../store/index.ts';
import { type KeySpace, keyPrefix } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { type Amounts, addAmounts, amountsOf, describeAmounts, listOf, subtractAmounts, zero } from './amounts.ts';
import { evaluatorFor, kindOfLimit, type QuotaEvaluator } from './evaluators.ts';
import { type QuotaSpec, type ScopeSelector, scopesOf } from './scopes.ts';

/** An admitted write whose result is not yet in the store. */
interface Reservation {
  amounts: Amounts;
  untilMs: number;
}

/** Time after which a reservation without a visible write expires. */
const reservationMs = 60_000;

export interface LedgerOptions {
  store: Store<StoredObject>;
  clock: Clock;
  namespace: string;
  name: string;
  spec: QuotaSpec;
  /** only served kinds can be counted */
  isServed(kind: KeySpace): boolean;
  onChange(): void;
}

/** A write with the data that a quota needs. */
export interface Demand {
  /** storage key of the object */
  key: string;
  evaluator: QuotaEvaluator;
  object: UnstructuredObject;
  oldObject: UnstructuredObject | undefined;
}

/**
 * The usage of one quota: all counted objects, kept in sync by store events, plus reservations of pending writes. It is
 * exact at any moment, so concurrent writes cannot exceed the limit.
 */
export class QuotaLedger {
  readonly name: string;
  readonly spec: QuotaSpec;
  readonly #options: LedgerOptions;
  readonly #hard: Amounts;
  readonly #scopes: readonly ScopeSelector[];
  readonly #used: Amounts = new Map();
  readonly #entries = new Map<string, Amounts>();
  readonly #reservations = new Map<string, Reservation>();
  readonly #timers = new Map<string, () => void>();
  readonly #stops: (() => void)[] = [];

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.name = options.name;
    this.spec = options.spec;
    this.#hard = amountsOf(options.spec.hard);
    this.#scopes = scopesOf(options.spec);
    const kinds = new Map<string, KeySpace>();
    for (const [limit, kind] of this.#countable()) {
      kinds.set(`${kind.group}/${kind.plural}`, kind);
      this.#used.set(limit, zero);
    }
    for (const kind of kinds.values()) this.#follow(kind);
  }

  /** Limits on served kinds, each with its kind. */
  #countable(): [limit: string, kind: KeySpace][] {
    return [...this.#hard.keys()].flatMap((limit) => {
      const kind = kindOfLimit(limit);
      return kind && evaluatorFor(kind) && this.#options.isServed(kind) ? [[limit, kind]] : [];
    });
  }

  /** Returns false if kinds with limits in this quota were added or removed. */
  isCurrent(): boolean {
    const countable = this.#countable();
    return countable.length === this.#used.size && countable.every(([limit]) => this.#used.has(limit));
  }

  close(): void {
    for (const stop of this.#stops) stop();
    for (const cancel of this.#timers.values()) cancel();
  }

  /** Tells whether the quota has a limit on objects of a kind. */
  concerns({ counts }: QuotaEvaluator): boolean {
    for (const limit of this.#used.keys()) if (counts(limit)) return true;
    return false;
  }

  /** Returns the status of the quota. */
  status(): { hard: Record<string, string>; used: Record<string, string> } {
    return { hard: listOf(this.#hard), used: listOf(this.#used) };
  }

  isOf(spec: QuotaSpec): boolean {
    return deepEqual(spec, this.spec);
  }

  /** Returns why the quota refuses a write, with the message of kube-apiserver; undefined if it does not. */
  objection(demand: Demand): string | undefined {
    const { evaluator, object } = demand;
    if (!this.#matches(evaluator, object)) return undefined;
    const limits = [...this.#used.keys()].filter((name) => evaluator.counts(name));
    const missing = evaluator.missing?.(object, limits);
    if (missing !== undefined) return `failed quota: ${this.name}: ${missing}`;
    const requested = this.#growth(demand);
    if (requested.size === 0) return undefined;
    const used = this.#usedAndReserved(demand.key);
    const nanosOf = (amounts: Amounts, name: string): bigint => must(amounts.get(name), name).nanos;
    const exceeded = [...requested.keys()].filter(
      (name) => nanosOf(used, name) + nanosOf(requested, name) > nanosOf(this.#hard, name),
    );
    if (exceeded.length === 0) return undefined;
    const words = (amounts: Amounts): string => describeAmounts(amounts, exceeded);
    return `exceeded quota: ${this.name}, requested: ${words(requested)}, used: ${words(used)}, limited: ${words(this.#hard)}`;
  }

  /** Reserves the amounts of an admitted write until the write is visible. */
  reserve(demand: Demand): void {
    if (!this.#matches(demand.evaluator, demand.object)) return;
    const amounts = this.#growth(demand);
    if (amounts.size === 0) return;
    this.#reservations.set(demand.key, { amounts, untilMs: this.#options.clock.now() + reservationMs });
  }

  #matches(evaluator: QuotaEvaluator, object: UnstructuredObject): boolean {
    return this.#scopes.every((selector) => evaluator.matchesScope(object, selector));
  }

  /** Returns the additional usage of a write compared to the old object, for limited resources only. */
  #growth({ evaluator, object, oldObject }: Demand): Amounts {
    const nowMs = this.#options.clock.now();
    const growth = new Map(evaluator.usage(object, nowMs));
    if (oldObject && this.#matches(evaluator, oldObject)) subtractAmounts(growth, evaluator.usage(oldObject, nowMs));
    for (const [name, { nanos }] of growth) if (nanos <= 0n || !this.#used.has(name)) growth.delete(name);
    return growth;
  }

  #usedAndReserved(exceptKey: string): Amounts {
    const used = new Map(this.#used);
    const nowMs = this.#options.clock.now();
    for (const [key, { amounts, untilMs }] of this.#reservations) {
      if (untilMs <= nowMs) this.#reservations.delete(key);
      else if (key !== exceptKey) addAmounts(used, amounts);
    }
    return used;
  }

  #follow(kind: KeySpace): void {
    const evaluator = evaluatorFor(kind);
    if (!evaluator) return;
    const { store, namespace, onChange } = this.#options;
    const prefix = keyPrefix(kind, namespace);
    const { records, revision } = store.list(prefix);
    for (const { key, value } of records) this.#enter(key, evaluator, value);
    const onEvents = (events: readonly StoreEvent<StoredObject>[]): void => {
      for (const event of events) {
        const key = event.type === 'put' ? event.record.key : event.key;
        this.#reservations.delete(key);
        this.#enter(key, evaluator, event.type === 'put' ? event.record.value : undefined);
      }
      onChange();
    };
    this.#stops.push(store.watch(prefix, revision, onEvents));
  }

  /** Updates the usage with the current state of an object, or removes it. */
  #enter(key: string, evaluator: QuotaEvaluator, stored: StoredObject | undefined): void {
    const before = this.#entries.get(key);
    const amounts = stored && this.#amountsOf(key, evaluator, stored);
    if (before) subtractAmounts(this.#used, before);
    if (amounts && amounts.size > 0) {
      addAmounts(this.#used, amounts);
      this.#entries.set(key, amounts);
    } else this.#entries.delete(key);
    // A sum takes over the notation of its parts, so a sum that is back at zero must not keep the old notation.
    for (const name of before?.keys() ?? [])
      if (must(this.#used.get(name), 'used.get(name)').nanos === 0n) this.#used.set(name, zero);
  }

  #amountsOf(key: string, evaluator: QuotaEvaluator, stored: StoredObject): Amounts {
    const { clock, onChange } = this.#options;
    const { object } = stored;
    this.#timers.get(key)?.();
    this.#timers.delete(key);
    if (!this.#matches(evaluator, object)) return new Map();
    const nowMs = clock.now();
    const amounts = new Map(evaluator.usage(object, nowMs));
    for (const name of amounts.keys()) if (!this.#used.has(name)) amounts.delete(name);
    const changesAt = evaluator.changesAt?.(object) ?? 0;
    if (changesAt >= nowMs) {
      const cancel = clock.after(changesAt + 1 - nowMs, () => {
        this.#enter(key, evaluator, stored);
        onChange();
      });
      this.#timers.set(key, cancel);
    }
    return amounts;
  }
}
