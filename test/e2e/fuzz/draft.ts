import type { WireRequest } from '../../support/rough/wire.ts';

/** A request before its protocol is chosen. */
export interface Draft extends WireRequest {
  headers: (readonly [string, string])[];
  /** purpose of the request */
  idea: string;
}

export const namespaces: readonly string[] = ['fuzz-a', 'fuzz-b'];
