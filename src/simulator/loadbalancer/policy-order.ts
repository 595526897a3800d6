import type { Octavia } from './octavia.ts';
import type { L7PolicyRow } from './rows.ts';

/** Renumbers the policies of a listener after a deletion. */
export function closeRanks({ policies }: Octavia, listenerId: string): void {
  number(policies, inOrder(policies.by('listener', listenerId)));
}

export function inOrder(rows: Iterable<Readonly<L7PolicyRow>>): Readonly<L7PolicyRow>[] {
  return [...rows].sort((a, b) => a.position - b.position);
}

export function number(policies: Octavia['policies'], ordered: readonly Readonly<L7PolicyRow>[]): void {
  ordered.forEach(({ id, position }, index) => {
    if (position !== index + 1) policies.update(id, { position: index + 1 });
  });
}
