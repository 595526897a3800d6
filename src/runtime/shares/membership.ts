import { isAtLeast } from '../../client/index.ts';
import { ownerOf } from './rendezvous.ts';

/** Sorted ids of the members that a process assumes. */
export type View = readonly string[];

/** State that a member publishes. */
export interface Announcement {
  readonly id: string;
  /** empty: it is leaving and handles nothing any more */
  readonly view: View;
  /** how long it counts as alive after it was last heard of */
  readonly leaseMs: number;
  /** changes with every renewal */
  readonly resourceVersion: string;
}

interface Other extends Announcement {
  /** time of the first observation, by the local monotonic clock */
  readonly seenAt: number;
}

const maxKnown = 100_000;

/** Decides which shares may be worked on, as a snapshot. */
export class Decision {
  readonly #self: string;
  readonly #views: readonly View[];
  readonly #others: readonly Announcement[];
  readonly #known = new Map<string, boolean>();

  constructor(self: string, views: readonly View[], others: readonly Announcement[]) {
    this.#self = self;
    this.#views = views;
    this.#others = others;
  }

  allows(share: string): boolean {
    let allowed = this.#known.get(share);
    if (allowed === undefined) {
      allowed =
        this.#views.length > 0 &&
        this.#views.every((view) => ownerOf(share, view) === this.#self) &&
        this.#others.every(({ id, view }) => ownerOf(share, view) !== id);
      // The cache also contains names of deleted clusters.
      if (this.#known.size >= maxKnown) this.#known.clear();
      this.#known.set(share, allowed);
    }
    return allowed;
  }
}

const nothing = new Decision('', [], []);

/**
 * State of one member about all members, which decides what it may work on. There is no coordinator: each member
 * publishes the view it acts on, and afterwards reads the views of the others. It works on a share if its view makes it
 * the owner and no other live member publishes a view that makes that member the owner. If two publish such views at
 * the same time, at least one reads the other's. A share is given up in a published view only when no work on it is in
 * progress.
 */
export class Membership {
  readonly #id: string;
  readonly #others = new Map<string, Other>();
  /** dead members whose lease still exists, with its version, so that they do not count as new */
  readonly #dead = new Map<string, string>();
  /** view that is stored, as far as known */
  #published: View = [];
  /** views that may be stored because their write got no response */
  #perhaps: View[] = [];
  /** views under which the others were read; a share that is ours in all of them has been ours throughout */
  #confirmed: readonly View[] = [];
  /** view to be published next */
  #aim: View | undefined;
  #decision: Decision = nothing;

  constructor(id: string) {
    this.#id = id;
  }

  get published(): View {
    return this.#published;
  }

  /** Reports whether the others were read after the view was published. */
  get isConfirmed(): boolean {
    const [confirmed, ...more] = this.#confirmed;
    return confirmed !== undefined && more.length === 0 && isSame(this.#published, confirmed);
  }

  /** The present decision; a new object whenever it may have changed. */
  get decision(): Decision {
    return this.#decision;
  }

  /** All live members including this one: the view to act on. */
  target(): View {
    const ids = [this.#id];
    for (const { id, view } of this.#others.values()) if (view.length > 0) ids.push(id);
    return ids.toSorted();
  }

  /** Records announcements of members. Returns whether anything but their time is new. */
  observe(announcements: readonly Announcement[], now: number): boolean {
    let isNews = false;
    for (const announcement of announcements) {
      const { id, view, resourceVersion } = announcement;
      if (id === this.#id) continue;
      const known = this.#others.get(id);
      const seen = known?.resourceVersion ?? this.#dead.get(id);
      if (seen !== undefined && isAtLeast(seen, resourceVersion)) continue;
      this.#dead.delete(id);
      this.#others.set(id, { ...announcement, seenAt: now });
      if (!known || !isSame(known.view, view)) isNews = true;
    }
    if (isNews) this.#decide();
    return isNews;
  }

  /**
   * Records that the lease of a member was deleted. A member that announced its leave is gone. Any other may work on
   * until it notices, so it counts until its lease would have expired.
   */
  gone(id: string): boolean {
    this.#dead.delete(id);
    if (this.#others.get(id)?.view.length !== 0) return false;
    this.#others.delete(id);
    this.#decide();
    return true;
  }

  /** Records the announcements of all members. Members that are missing have no lease. */
  observeAll(announcements: readonly Announcement[], now: number): boolean {
    let isNews = this.observe(announcements, now);
    const present = new Set(announcements.map(({ id }) => id));
    for (const id of [...this.#others.keys(), ...this.#dead.keys()]) {
      if (!present.has(id) && this.gone(id)) isNews = true;
    }
    return isNews;
  }

  /** Time until a silent member counts as dead; infinite without other members. */
  msUntilOverdue(now: number): number {
    let ms = Number.POSITIVE_INFINITY;
    for (const { seenAt, leaseMs } of this.#others.values()) ms = Math.min(ms, seenAt + leaseMs - now);
    return ms;
  }

  /**
   * Removes members not heard of in time. Must be called right after reading all leases, because a lost watch stream
   * does not mean that a member is dead.
   */
  expire(now: number): string[] {
    const dead = [...this.#others.values()].filter(({ seenAt, leaseMs }) => seenAt + leaseMs <= now);
    for (const { id, resourceVersion } of dead) {
      this.#others.delete(id);
      this.#dead.set(id, resourceVersion);
    }
    if (dead.length > 0) this.#decide();
    return dead.map(({ id }) => id);
  }

  /** From now on no work starts on shares that `view` gives to others. */
  aim(view: View): void {
    if (this.#aim && isSame(this.#aim, view)) return;
    this.#aim = view;
    this.#decide();
  }

  /** Reports whether `view` takes a share from us that others believe to be ours. */
  gives(share: string, view: View): boolean {
    const mine = [this.#published, ...this.#perhaps].some((claimed) => ownerOf(share, claimed) === this.#id);
    return mine && ownerOf(share, view) !== this.#id;
  }

  /** Records that a view is about to be written. Until the response, it is unknown whether it is stored. */
  publishing(view: View): void {
    if (isSame(view, this.#published) || this.#perhaps.some((known) => isSame(known, view))) return;
    this.#perhaps.push(view);
    this.#decide();
  }

  /** Records that a view was written. */
  didPublish(view: View): void {
    if (this.#perhaps.length === 0 && isSame(view, this.#published)) return;
    this.#confirmed = [...this.#confirmed, ...this.#perhaps.filter((other) => !isSame(other, view))];
    this.#perhaps = [];
    this.#published = view;
    this.#decide();
  }

  /** Records that the others were read after `view` was published. */
  didRead(view: View): void {
    if (!isSame(view, this.#published) || this.isConfirmed) return;
    this.#confirmed = [view];
    this.#decide();
  }

  #decide(): void {
    const views = [this.#published, ...this.#perhaps, ...this.#confirmed, ...(this.#aim ? [this.#aim] : [])];
    const isReady = this.#published.length > 0 && this.#confirmed.length > 0;
    this.#decision = isReady ? new Decision(this.#id, views, [...this.#others.values()]) : nothing;
  }
}

export function isSame(a: View, b: View): boolean {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}
