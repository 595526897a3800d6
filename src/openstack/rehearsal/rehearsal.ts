import type { Journal } from './changes.ts';

/** What the rehearsed services have in common. */
export interface Rehearsal {
  readonly projectId: string;
  readonly journal: Journal;
  newId(kind: string): string;
  /** an address nobody has: which one the cloud will choose is not known */
  newAddress(): string;
  now(): string;
  /** it was made in this rehearsal */
  isNew(id: string): boolean;
}
