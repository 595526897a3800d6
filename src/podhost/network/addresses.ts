import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { LoopbackRange } from '../../simkube/index.ts';

/** Addresses of load balancers and Gateways. They belong to the loopback range, so they exist on every machine. */
export interface HostAddresses {
  /** address at which node ports are reached */
  readonly node: string;
  /** shared address of all Ingresses */
  readonly ingress: string;
  /** the whole range, for messages */
  readonly cidr: string;
  /** Reports whether callers outside of the host may use the address. */
  owns(address: string): boolean;
  /** Reports whether an object may request the address: it is in our range and not needed by the node itself. */
  mayBeAsked(address: string): boolean;
  /**
   * Yields all addresses of the range for an object. The start depends only on the object's name, so a recreated object
   * tends to get the same address, and different objects tend to differ.
   */
  candidates(name: string): Generator<string>;
}

const size = 65_536;
/** the first addresses belong to the node itself */
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
