import type { Journal } from './changes.ts';

/** State shared by the rehearsed services. */
export interface Rehearsal {
  readonly projectId: string;
  readonly journal: Journal;
  newId(kind: string): string;
  /** returns an unused address, because the one the cloud will choose is unknown */
  newAddress(): string;
  now(): string;
  /** returns true if it was created in this rehearsal */
  isNew(id: string): boolean;
}
