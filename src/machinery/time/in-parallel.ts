/** A server takes time for each request. More parallel requests would only wait for each other. */
const usualLimit = 16;

/**
 * Runs the work for all items with limited concurrency. After the first failure no new work starts, and it throws once
 * running work has ended.
 */
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
