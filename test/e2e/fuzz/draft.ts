import type { WireRequest } from '../../support/rough/wire.ts';

/** A request before it is decided how it travels. */
export interface Draft extends WireRequest {
  headers: (readonly [string, string])[];
  /** what it was meant to be */
  idea: string;
}

export const namespaces: readonly string[] = ['fuzz-a', 'fuzz-b'];
