import type { Prerequisites } from './prerequisites.ts';

/**
 * Caches a cloud's answers for a LatticeCluster while the question stays the same. Resources that disappear later are
 * reported by the controllers that use them.
 */
export interface CloudMemory {
  find(uid: string, question: string): Prerequisites | undefined;
  keep(uid: string, question: string, answer: Prerequisites): void;
  forget(uid: string): void;
}

export function createCloudMemory(): CloudMemory {
  const known = new Map<string, { question: string; answer: Prerequisites }>();
  return {
    find(uid, question) {
      const found = known.get(uid);
      return found?.question === question ? found.answer : undefined;
    },
    keep(uid, question, answer) {
      known.set(uid, { question, answer });
    },
    forget(uid) {
      known.delete(uid);
    },
  };
}
