import { isAtLeast } from '../../client/index.ts';
import { ownerOf } from './rendezvous.ts';

/** Ids of the members somebody acts on, sorted. */
export type View = readonly string[];

/** What a member says of itself. */
export interface Announcement {
  readonly id: string;
  /** empty: it is leaving, and works on nothing any more */
  readonly view: View;
  /** for how long it counts as alive after it was heard of */
  readonly leaseMs: number;
  /** grows with every renewal */
  readonly resourceVersion: string;
}

interface Other extends Announcement {
  /** when this was first seen, by our own monotonic clock */
  readonly seenAt: number;
}

const maxKnown = 100_000;

/** Says which shares may be worked on, as things are at one moment. */
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
      // names of clusters that are gone
      if (this.#known.size >= maxKnown) this.#known.clear();
      this.#known.set(share, allowed);
    }
    return allowed;
  }
}

const nothing = new Decision('', [], []);

/**
 * What one member knows of all of them, and what it may work on by that. There is no coordinator: each member publishes the
 * view it acts on, and reads what the others publish afterwards. It works on a share when the view makes it the owner and
 * nobody else who is alive publishes a view that makes himself the owner. Of two who publish such views at the same time at
 * least one reads the other's. A share is given up in a published view only when no work on it is under way.
 */
export class Membership {
  readonly #id: string;
  readonly #others = new Map<string, Other>();
  /** whose lease is still there: the version of it, so that they are not taken for newcomers */
  readonly #dead = new Map<string, string>();
  /** in the store, for all we know */
  #published: View = [];
  /** views that a write without an answer may have put there */
  #perhaps: View[] = [];
  /** those under which the others were read; what is in all of them has been ours all along */
  #confirmed: readonly View[] = [];
  /** what is about to be published */
  #aim: View | undefined;
  #decision: Decision = nothing;

  constructor(id: string) {
    this.#id = id;
  }

  get published(): View {
    return this.#published;
  }

  /** Whether the others were read since it was published. */
  get isConfirmed(): boolean {
    const [confirmed, ...more] = this.#confirmed;
    return confirmed !== undefined && more.length === 0 && isSame(this.#published, confirmed);
  }

  /** What may be worked on at the moment; another object whenever that may have changed. */
  get decision(): Decision {
    return this.#decision;
  }

  /** Everybody who counts, ourselves included: the view to act on. */
  target(): View {
    const ids = [this.#id];
    for (const { id, view } of this.#others.values()) if (view.length > 0) ids.push(id);
    return ids.toSorted();
  }

  /** Notes what members say. Answers whether anything but the time of it is new. */
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
   * Somebody's lease is gone. Whoever said that he was leaving has left. Of anybody else it was taken away, and he may work on
   * until he notices: he counts until his lease would have ended.
   */
  gone(id: string): boolean {
    this.#dead.delete(id);
    if (this.#others.get(id)?.view.length !== 0) return false;
    this.#others.delete(id);
    this.#decide();
    return true;
  }

  /** Notes what everybody says: who is not among them has no lease. */
  observeAll(announcements: readonly Announcement[], now: number): boolean {
    let isNews = this.observe(announcements, now);
    const present = new Set(announcements.map(({ id }) => id));
    for (const id of [...this.#others.keys(), ...this.#dead.keys()]) {
      if (!present.has(id) && this.gone(id)) isNews = true;
    }
    return isNews;
  }

  /** How long until somebody counts as dead who is not heard of again; infinite when there is nobody. */
  msUntilOverdue(now: number): number {
    let ms = Number.POSITIVE_INFINITY;
    for (const { seenAt, leaseMs } of this.#others.values()) ms = Math.min(ms, seenAt + leaseMs - now);
    return ms;
  }

  /** Forgets those not heard of in time. To be called right after everybody was asked: a lost stream is nobody's death. */
  expire(now: number): string[] {
    const dead = [...this.#others.values()].filter(({ seenAt, leaseMs }) => seenAt + leaseMs <= now);
    for (const { id, resourceVersion } of dead) {
      this.#others.delete(id);
      this.#dead.set(id, resourceVersion);
    }
    if (dead.length > 0) this.#decide();
    return dead.map(({ id }) => id);
  }

  /** From now on nothing is begun that `view` gives to others. */
  aim(view: View): void {
    if (this.#aim && isSame(this.#aim, view)) return;
    this.#aim = view;
    this.#decide();
  }

  /** Whether `view` takes a share from us that the others believe to be ours. */
  gives(share: string, view: View): boolean {
    const mine = [this.#published, ...this.#perhaps].some((claimed) => ownerOf(share, claimed) === this.#id);
    return mine && ownerOf(share, view) !== this.#id;
  }

  /** A view is about to be written: until the answer comes nobody knows whether it has been. */
  publishing(view: View): void {
    if (isSame(view, this.#published) || this.#perhaps.some((known) => isSame(known, view))) return;
    this.#perhaps.push(view);
    this.#decide();
  }

  /** A view has been written. */
  didPublish(view: View): void {
    if (this.#perhaps.length === 0 && isSame(view, this.#published)) return;
    this.#confirmed = [...this.#confirmed, ...this.#perhaps.filter((other) => !isSame(other, view))];
    this.#perhaps = [];
    this.#published = view;
    this.#decide();
  }

  /** The others were read after `view` had been published. */
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
