import { createHash } from 'node:crypto';

// Addresses of load balancers and Gateways: of the loopback range, so that they are real on every machine.

const prefix = '127.65.';
const size = 65_536;
/** the first ones are for the node itself */
const reserved = 16;

/** The address at which ports of the node are reached. */
export const nodeAddress: string = `${prefix}0.1`;

/** The address all Ingresses share. */
export const ingressAddress: string = `${prefix}0.2`;

/** Whether callers outside of the host may find something there. */
export function isHostAddress(address: string): boolean {
  return address.startsWith(prefix);
}

/** Any address of the loopback range may be asked for by name. */
export function isLoopback(address: string): boolean {
  return /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address);
}

/**
 * Addresses to try for an object, all there are. They begin at a place that only depends on the object's name, so that it
 * tends to have the same address again when it is made anew, and different objects tend to differ.
 */
export function* candidateAddresses(name: string): Generator<string> {
  const usable = size - reserved - 1;
  const start = createHash('sha256').update(name).digest().readUInt32BE(0) % usable;
  for (let step = 0; step < usable; step++) {
    const index = reserved + ((start + step) % usable);
    yield `${prefix}${index >> 8}.${index & 255}`;
  }
}
