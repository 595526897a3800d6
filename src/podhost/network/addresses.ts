import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { LoopbackRange } from '../../simkube/index.ts';

/** Addresses of load balancers and Gateways: of the loopback range, so that they are real on every machine. */
export interface HostAddresses {
  /** at which ports of the node are reached */
  readonly node: string;
  /** which all Ingresses share */
  readonly ingress: string;
  /** all of them, for messages */
  readonly cidr: string;
  /** Whether callers outside of the host may find something there. */
  owns(address: string): boolean;
  /** Whether an object may name it: one of ours that the node does not need itself. All others are somebody else's. */
  mayBeAsked(address: string): boolean;
  /**
   * Addresses to try for an object, all there are. They begin at a place that only depends on the object's name, so that it
   * tends to have the same address again when it is made anew, and different objects tend to differ.
   */
  candidates(name: string): Generator<string>;
}

const size = 65_536;
/** the first ones are for the node itself */
const reserved = 16;

export function hostAddresses({ prefix, cidr }: LoopbackRange): HostAddresses {
  return {
    node: `${prefix}0.1`,
    ingress: `${prefix}0.2`,
    cidr,
    owns: (address) => address.startsWith(prefix),
    mayBeAsked(address) {
      if (isIP(address) !== 4 || !address.startsWith(prefix)) return false;
      const [, , third = 0, fourth = 0] = address.split('.').map(Number);
      const index = third * 256 + fourth;
      return index >= reserved && index < size - 1;
    },
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
