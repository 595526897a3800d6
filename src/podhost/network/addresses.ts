import { createHash } from 'node:crypto';
import type { LoopbackRange } from '../../simkube/index.ts';

/** Addresses of load balancers and Gateways: of the loopback range, so that they are real on every machine. */
export interface HostAddresses {
  /** at which ports of the node are reached */
  readonly node: string;
  /** which all Ingresses share */
  readonly ingress: string;
  /** Whether callers outside of the host may find something there. */
  owns(address: string): boolean;
  /**
   * Addresses to try for an object, all there are. They begin at a place that only depends on the object's name, so that it
   * tends to have the same address again when it is made anew, and different objects tend to differ.
   */
  candidates(name: string): Generator<string>;
}

const size = 65_536;
/** the first ones are for the node itself */
const reserved = 16;

export function hostAddresses({ prefix }: LoopbackRange): HostAddresses {
  return {
    node: `${prefix}0.1`,
    ingress: `${prefix}0.2`,
    owns: (address) => address.startsWith(prefix),
    *candidates(name) {
      const usable = size - reserved - 1;
      const start = createHash('sha256').update(name).digest().readUInt32BE(0) % usable;
      for (let step = 0; step < usable; step++) {
        const index = reserved + ((start + step) % usable);
        yield `${prefix}${index >> 8}.${index & 255}`;
      }
    },
  };
}

/** Any address of the loopback range may be asked for by name. */
export function isLoopback(address: string): boolean {
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}
