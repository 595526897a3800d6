/**
 * Has work that is asked for while it is being done begin once more afterwards: of two rounds at the same time the one that
 * looked first could have the last word. Whoever asks waits for a round that began after asking, and learns how it went.
 */
export function oneAfterTheOther(work: () => Promise<void>): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    next = undefined;
    const round = work().finally(() => {
      if (current === round) current = undefined;
    });
    current = round;
    return round;
  };
  return () => {
    if (!current) return begin();
    next ??= current.then(begin, begin);
    return next;
  };
}
