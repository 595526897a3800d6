/** 65,536 addresses of this computer that one program gives out: `127.64.0.0/16`. */
export interface LoopbackRange {
  readonly cidr: string;
  /** what all its addresses begin with: `127.64.` */
  readonly prefix: string;
  /** tells it from the others: 64 */
  readonly number: number;
}

/** The ranges programs share among themselves. */
export const lastLoopbackRange = 127;

export function loopbackRange(number: number): LoopbackRange {
  return { cidr: `127.${number}.0.0/16`, prefix: `127.${number}.`, number };
}

/** The range an address is of; undefined for addresses that are not loopback ones. */
export function loopbackRangeOf(address: string): LoopbackRange | undefined {
  const number = /^127\.(\d{1,3})\.\d{1,3}\.\d{1,3}$/.exec(address)?.[1];
  return number === undefined ? undefined : loopbackRange(Number(number));
}

/**
 * Ranges to try when `usual` is taken. Every second one: a program that runs a simulated cloud and Pods takes two, and the
 * usual ones of both stay free for each other.
 */
export function* rangesFrom(usual: LoopbackRange): Generator<LoopbackRange> {
  for (let number = usual.number; number <= lastLoopbackRange; number += 2) yield loopbackRange(number);
}
