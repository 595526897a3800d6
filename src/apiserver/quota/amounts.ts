import { formatQuantity, parseQuantity, type Quantity } from '../../machinery/index.ts';

/** Amounts by resource name, such as `cpu` or `count/jobs.batch`. */
export type Amounts = Map<string, Quantity>;

export type ResourceList = Readonly<Record<string, unknown>>;

export const one: Quantity = { nanos: 1_000_000_000n, format: 'DecimalSI' };
export const zero: Quantity = { nanos: 0n, format: 'DecimalSI' };

export function wholeAmount(count: number): Quantity {
  return { nanos: BigInt(count) * one.nanos, format: 'DecimalSI' };
}

export function amountsOf(list: ResourceList | undefined): Amounts {
  const amounts: Amounts = new Map();
  for (const name in list) amounts.set(name, parseQuantity(list[name]) ?? zero);
  return amounts;
}

export function listOf(amounts: Amounts): Record<string, string> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}

/** Adds quantities in the notation of the first, unless it is zero; Go does the same. */
export function sum(a: Quantity | undefined, b: Quantity): Quantity {
  if (a === undefined || a.nanos === 0n) return b;
  return { nanos: a.nanos + b.nanos, format: a.format };
}

export function addAmounts(into: Amounts, more: Amounts): void {
  for (const [name, amount] of more) into.set(name, sum(into.get(name), amount));
}

export function subtractAmounts(from: Amounts, less: Amounts): void {
  for (const [name, { nanos, format }] of less) {
    const amount = from.get(name);
    from.set(name, amount ? { nanos: amount.nanos - nanos, format: amount.format } : { nanos: -nanos, format });
  }
}

/** Raises each amount to at least the other amount. */
export function raiseAmounts(into: Amounts, other: Amounts): void {
  for (const [name, amount] of other) {
    const present = into.get(name);
    if (present === undefined || present.nanos < amount.nanos) into.set(name, amount);
  }
}

/** Formats amounts for refusals: "cpu=2,memory=1Gi". */
export function describeAmounts(amounts: Amounts, names: readonly string[]): string {
  return [...names]
    .sort()
    .map((name) => `${name}=${formatQuantity(amounts.get(name) ?? zero)}`)
    .join(',');
}
