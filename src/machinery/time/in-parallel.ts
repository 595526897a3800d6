/** A server takes its time for each request; more than this at once only wait for each other. */
const usualLimit = 16;

/** Runs the work for all items, several at once. The first failure ends it once what was begun has ended. */
export async function inParallel<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
  { atOnce = usualLimit }: { atOnce?: number } = {},
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      if (failures.length > 0) return;
      await work(next.value).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  if (failures.length > 0) throw failures[0];
}
