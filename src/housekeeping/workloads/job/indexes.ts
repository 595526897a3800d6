/** Numbers as a Job writes them down: `0,2-4`. */
export function formatIndexes(indexes: ReadonlySet<number>): string {
  const sorted = [...indexes].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let start = 0; start < sorted.length; ) {
    let end = start;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end]! + 1) end++;
    const [from, to] = [sorted[start]!, sorted[end]!];
    // Two neighbours are no range yet.
    parts.push(from === to ? `${from}` : to === from + 1 ? `${from},${to}` : `${from}-${to}`);
    start = end + 1;
  }
  return parts.join(',');
}

/** Numbers below the limit that a Job has written down. */
export function parseIndexes(text: string | undefined, limit: number): Set<number> {
  const indexes = new Set<number>();
  for (const part of (text ?? '').split(',')) {
    const [from, to = from] = part.split('-').map(Number);
    if (part === '' || from === undefined || to === undefined || !(from <= to)) continue;
    for (let index = from; index <= to && index < limit; index++) indexes.add(index);
  }
  return indexes;
}
