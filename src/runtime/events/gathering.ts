import type { Clock } from '../../machinery/index.ts';
import { LruMap } from './lru-map.ts';
import type { CoreEvent } from './types.ts';

export interface GatheringOptions {
  clock: Clock;
  /** 0 sends every event at once */
  gatherMs: number;
  /** events of further objects are sent at once when this many objects wait */
  maxObjects: number;
  maxMessageLength: number;
  send(event: CoreEvent): void;
}

/** Makes one event of several. */
export interface Gathering {
  add(event: CoreEvent): void;
  /** sends what waits */
  sendAll(): void;
  /** drops what waits */
  drop(): void;
}

interface Waiting {
  event: CoreEvent;
  cancel(): void;
}

const rememberedEvents = 1024;

/**
 * Where every event is a request, Normal events that one component reports of one object within a short time are sent as
 * one, with all messages and the newest reason. An event that was sent just before is not sent again: it comes from a
 * reconcile whose status is not written yet. Warnings are sent at once.
 */
export function createGathering(options: GatheringOptions): Gathering {
  const { clock, gatherMs, maxObjects, maxMessageLength, send } = options;
  const waiting = new Map<string, Waiting>();
  /** messages sent lately, and when */
  const sent = new LruMap<number>(rememberedEvents);
  /** longer than a status may wait, so that its event is known until then */
  const repeatMs = 5 * gatherMs;

  const end = (key: string): void => {
    const entry = waiting.get(key);
    if (!entry) return;
    waiting.delete(key);
    entry.cancel();
    send(entry.event);
  };

  return {
    add(event) {
      if (gatherMs <= 0 || event.type !== 'Normal') return send(event);
      const key = keyOf(event);
      const now = clock.now();
      const message = `${key}\u0000${event.reason}\u0000${event.message}`;
      const sentAt = sent.get(message);
      sent.set(message, now);
      if (sentAt !== undefined && now - sentAt < repeatMs) return;
      const entry = waiting.get(key);
      if (entry) {
        const joined = `${entry.event.message}; ${event.message}`;
        if (joined.length <= maxMessageLength) {
          const { firstTimestamp } = entry.event;
          entry.event = { ...event, message: joined, ...(firstTimestamp !== undefined && { firstTimestamp }) };
          return;
        }
        end(key);
      }
      if (waiting.size >= maxObjects) return send(event);
      waiting.set(key, { event, cancel: clock.after(gatherMs, () => end(key)) });
    },
    sendAll() {
      for (const key of [...waiting.keys()]) end(key);
    },
    drop() {
      for (const { cancel } of waiting.values()) cancel();
      waiting.clear();
    },
  };
}

function keyOf({ involvedObject: { kind, namespace, name, uid }, source }: CoreEvent): string {
  return [source?.component, kind, namespace, name, uid].join('\u0000');
}
