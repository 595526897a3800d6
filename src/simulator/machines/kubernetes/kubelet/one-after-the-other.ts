/**
 * Serializes work: a request during a run starts another run afterwards, because with two concurrent runs the older
 * reading could be written last. Each caller waits for a run that began after its request, and gets its result.
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
