import { must } from '../../../machinery/index.ts';
import { type Cidr, cidrOf, formatCidr } from './cidr.ts';
import { bitsOf, type IpVersion } from './ip.ts';

interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

/** Returns the minimal prefixes that cover the same addresses, in ascending order. */
export function mergePrefixes(cidrs: readonly Cidr[]): string[] {
  const [any] = cidrs;
  return any ? prefixesOf(merged(cidrs), any.version) : [];
}

/** Subtracts prefixes. */
export function removePrefixes(cidrs: readonly Cidr[], gone: readonly Cidr[]): string[] {
  const [any] = cidrs;
  if (!any) return [];
  const holes = merged(gone);
  const spans: Span[] = [];
  let at = 0;
  for (const { first, last } of merged(cidrs)) {
    let next = first;
    while (at < holes.length && must(holes[at], 'holes[at]').last < first) at++;
    for (let i = at; i < holes.length && must(holes[i], 'holes[i]').first <= last; i++) {
      if (must(holes[i], 'holes[i]').first > next)
        spans.push({ first: next, last: must(holes[i], 'holes[i]').first - 1n });
      next = must(holes[i], 'holes[i]').last + 1n;
    }
    if (next <= last) spans.push({ first: next, last });
  }
  return prefixesOf(spans, any.version);
}

/** Reports whether networks of the two lists overlap. */
export function overlapAny(some: readonly Cidr[], others: readonly Cidr[]): boolean {
  const [left, right] = [merged(some), merged(others)];
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    if (must(left[i], 'left[i]').last < must(right[j], 'right[j]').first) i++;
    else if (must(right[j], 'right[j]').last < must(left[i], 'left[i]').first) j++;
    else return true;
  }
  return false;
}

/** Returns the lowest free network of a length within the prefixes, or undefined. */
export function firstFree(cidrs: readonly Cidr[], taken: readonly Cidr[], prefix: number): Cidr | undefined {
  const used = merged(taken);
  for (const { first, last, version } of [...cidrs].sort((a, b) => (a.first < b.first ? -1 : 1))) {
    const size = 1n << BigInt(bitsOf[version] - prefix);
    let at = first;
    while (at + size - 1n <= last) {
      const obstacle = used.find((span) => span.first <= at + size - 1n && at <= span.last);
      if (!obstacle) return cidrOf({ version, value: at }, prefix);
      // Continue at the next aligned network after the obstacle.
      at = ((obstacle.last + size) / size) * size;
    }
  }
  return undefined;
}

function merged(cidrs: readonly Cidr[]): Span[] {
  const spans: { first: bigint; last: bigint }[] = [];
  for (const { first, last } of [...cidrs].sort((a, b) => (a.first < b.first ? -1 : 1))) {
    const previous = spans.at(-1);
    if (previous && first <= previous.last + 1n) {
      if (last > previous.last) previous.last = last;
    } else {
      spans.push({ first, last });
    }
  }
  return spans;
}

function prefixesOf(spans: readonly Span[], version: IpVersion): string[] {
  const prefixes: string[] = [];
  const bits = bitsOf[version];
  for (const span of spans) {
    let { first } = span;
    while (first <= span.last) {
      let prefix = bits;
      // Widen as far as alignment and the end allow.
      while (prefix > 0) {
        const wider = cidrOf({ version, value: first }, prefix - 1);
        if (wider.first !== first || wider.last > span.last) break;
        prefix--;
      }
      const cidr = cidrOf({ version, value: first }, prefix);
      prefixes.push(formatCidr(cidr));
      first = cidr.last + 1n;
    }
  }
  return prefixes;
}
