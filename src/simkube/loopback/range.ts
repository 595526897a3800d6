/** 65,536 loopback addresses for one program: `127.64.0.0/16`. */
export interface LoopbackRange {
  readonly cidr: string;
  /** common prefix of its addresses: `127.64.` */
  readonly prefix: string;
  /** number of the range: 64 */
  readonly number: number;
}

/** Last of the ranges that programs share. */
export const lastLoopbackRange = 127;

export function loopbackRange(number: number): LoopbackRange {
  return { cidr: `127.${number}.0.0/16`, prefix: `127.${number}.`, number };
}

/** Returns the range of an address; undefined if it is not a loopback address. */
export function loopbackRangeOf(address: string): LoopbackRange | undefined {
  const number = /^127\.(\d{1,3})\.\d{1,3}\.\d{1,3}$/.exec(address)?.[1];
  return number === undefined ? undefined : loopbackRange(Number(number));
}

/**
 * Ranges to try when `usual` is taken. Every second one, because a program with a simulated cloud and Pods takes two,
 * whose usual ranges must not collide.
 */
export function* rangesFrom(usual: LoopbackRange): Generator<LoopbackRange> {
  for (let number = usual.number; number <= lastLoopbackRange; number += 2) yield loopbackRange(number);
}
