import type { Priority } from '../queue/work-queue.ts';

interface Held {
  resourceVersion: string;
  priority: Priority;
}

/**
 * Changes of objects whose own reconcile is under way. Which of them that reconcile made itself is known for sure only when
 * it has ended: a cache may hear of a write before its writer does.
 */
export interface HeldEvents {
  hold(key: string, resourceVersion: string, priority: Priority): void;
  /** forgets what was held for a key; answers how urgently others' changes want a look, undefined when there were none */
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
