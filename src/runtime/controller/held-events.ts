import type { Priority } from '../queue/work-queue.ts';

interface Held {
  resourceVersion: string;
  priority: Priority;
}

/**
 * Events of objects whose own reconcile is running. Only when the reconcile has ended is it certain which of them it
 * caused: a cache may receive a write before the writer does.
 */
export interface HeldEvents {
  hold(key: string, resourceVersion: string, priority: Priority): void;
  /**
   * drops the held events of a key; returns the highest priority among others' changes, undefined if there were none
   */
  release(key: string, isOwn: (resourceVersion: string) => boolean): Priority | undefined;
}

export function createHeldEvents(): HeldEvents {
  const held = new Map<string, Held[]>();
  return {
    hold(key, resourceVersion, priority) {
      const events = held.get(key);
      if (events) events.push({ resourceVersion, priority });
      else held.set(key, [{ resourceVersion, priority }]);
    },
    release(key, isOwn) {
      const events = held.get(key);
      if (!events) return undefined;
      held.delete(key);
      let wanted: Priority | undefined;
      for (const { resourceVersion, priority } of events) {
        if (wanted !== 'high' && !isOwn(resourceVersion)) wanted = priority;
      }
      return wanted;
    },
  };
}
