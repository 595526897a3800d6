import type { Prerequisites } from './prerequisites.ts';

/**
 * What a cloud answered for a LatticeCluster, for as long as the same is asked. Clouds are not asked again and again for what was
 * there once: whoever needs it later says when it is gone.
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
