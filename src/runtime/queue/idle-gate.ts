import type { Clock } from '../../machinery/index.ts';

/**
 * Says when work that nobody waits for may begin: when no other key is ready anywhere and none is worked on. Shared by the
 * queues of one manager, so that what only sums up others' work comes after all of it. It never waits for ever: one turn in
 * a few is its own, and work that has only been waiting for a while does not count.
 */
export interface IdleGate {
  /** keys became ready that do not wait for idle times, or were taken */
  readyChanged(by: number): void;
  began(kind: WorkKind): void;
  ended(kind: WorkKind): void;
  /** whether one key of idle work may be taken now; true means that it is */
  admit(): boolean;
  /** called in a later turn of the event loop whenever idle work may begin; answers whether it took the chance */
  onOpen(listener: () => boolean): void;
  /** there is idle work */
  knock(): void;
  /** nothing is waited for any more */
  close(): void;
}

export type WorkKind = 'usual' | 'idle';

/** One turn in so many goes to idle work, however much other work there is. */
const idleTurn = 16;
/** Idle work done at the same time, unless all of it only waits. */
const idleLimit = 4;
/** When nothing has begun for so long, what is under way is only waiting for something. */
const stalledMs = 500;

export function createIdleGate(clock: Clock): IdleGate {
  const listeners: (() => boolean)[] = [];
  const underWay: Record<WorkKind, number> = { usual: 0, idle: 0 };
  let ready = 0;
  let turns = 0;
  let owedTurns = 0;
  let looking = false;
  let isStalled = false;
  let isClosed = false;
  let lastBegan = clock.now();
  let lastIdleBegan = lastBegan;
  let cancelTimer: (() => void) | undefined;

  /** Idle work may wait for a cluster that does not answer: that must not keep all others from theirs. */
  const hasRoom = (): boolean => underWay.idle < idleLimit || lastIdleBegan + stalledMs <= clock.now();
  const isOpen = (): boolean => (isStalled || owedTurns > 0 || (ready === 0 && underWay.usual === 0)) && hasRoom();

  /** A turn later, what the work just ended has caused is known, and comes first. */
  const requeueSoon = (): void => {
    if (looking || isClosed || !isOpen()) return;
    looking = true;
    setImmediate(() => {
      looking = false;
      // those served go to the end of the line
      for (let asked = 0; asked < listeners.length && isOpen(); asked++) {
        const listener = listeners.shift();
        if (!listener) break;
        listeners.push(listener);
        if (listener()) asked = -1;
      }
      // somebody may still wait
      if (!isOpen()) watchForStall();
    });
  };

  const watchForStall = (): void => {
    if (isClosed || (isStalled && hasRoom())) return;
    const from = isStalled ? lastIdleBegan : lastBegan;
    cancelTimer ??= clock.after(Math.max(0, from + stalledMs - clock.now()), () => {
      cancelTimer = undefined;
      if (lastBegan + stalledMs <= clock.now()) isStalled = true;
      if (isOpen()) requeueSoon();
      else watchForStall();
    });
  };

  return {
    admit() {
      if (!isOpen()) {
        watchForStall();
        return false;
      }
      if (owedTurns > 0) owedTurns--;
      return true;
    },
    knock() {
      if (isOpen()) requeueSoon();
      else watchForStall();
    },
    onOpen(listener) {
      listeners.push(listener);
    },
    readyChanged(by) {
      ready += by;
      if (ready === 0) requeueSoon();
    },
    began(kind) {
      underWay[kind]++;
      if (kind === 'idle') {
        lastIdleBegan = clock.now();
        return;
      }
      isStalled = false;
      lastBegan = clock.now();
      turns++;
      if (turns % idleTurn !== 0) return;
      owedTurns = 1;
      requeueSoon();
    },
    ended(kind) {
      underWay[kind]--;
      requeueSoon();
    },
    close() {
      isClosed = true;
      cancelTimer?.();
      cancelTimer = undefined;
    },
  };
}
