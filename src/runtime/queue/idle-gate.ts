import type { Clock } from '../../machinery/index.ts';

/**
 * Decides when idle work may start: when no other key is ready or in progress. All queues of one manager share it, so
 * that aggregating work runs after the work it aggregates. Idle work never starves: it gets one turn in a few, and work
 * that has only been waiting for a while does not block it.
 */
export interface IdleGate {
  /** reports that keys other than idle ones became ready or were taken */
  readyChanged(by: number): void;
  began(kind: WorkKind): void;
  ended(kind: WorkKind): void;
  /** returns whether one idle key may be taken now; true counts as taken */
  admit(): boolean;
  /** called in a later turn of the event loop whenever idle work may start; returns whether it took a key */
  onOpen(listener: () => boolean): void;
  /** reports that there is idle work */
  knock(): void;
  /** ends all waiting */
  close(): void;
}

export type WorkKind = 'usual' | 'idle';

/** One turn in this many goes to idle work, regardless of other work. */
const idleTurn = 16;
/** Maximum concurrent idle work, unless all of it is only waiting. */
const idleLimit = 4;
/** If nothing has started for this long, the work in progress is only waiting. */
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

  /** Idle work may wait for an unresponsive cluster, which must not block all other idle work. */
  const hasRoom = (): boolean => underWay.idle < idleLimit || lastIdleBegan + stalledMs <= clock.now();
  const isOpen = (): boolean => (isStalled || owedTurns > 0 || (ready === 0 && underWay.usual === 0)) && hasRoom();

  /** Checked one turn later, because the work that just ended may have caused other work, which goes first. */
  const requeueSoon = (): void => {
    if (looking || isClosed || !isOpen()) return;
    looking = true;
    setImmediate(() => {
      looking = false;
      // Served listeners move to the end.
      for (let asked = 0; asked < listeners.length && isOpen(); asked++) {
        const listener = listeners.shift();
        if (!listener) break;
        listeners.push(listener);
        if (listener()) asked = -1;
      }
      // Other listeners may still wait.
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
