/** Decimal number: digits times a power of ten. Unlike floats, sums are exact. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

/** Decimal places of a quotient. */
const divisionPlaces = 16;

export function decimal(value: number): Decimal {
  if (!Number.isFinite(value)) return { digits: 0n, exponent: 0 };
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string];
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?];
  return { digits: BigInt(whole + fraction), exponent: Number(exponentText) - fraction.length };
}

export const toNumber = ({ digits, exponent }: Decimal): number => Number(`${digits}e${exponent}`);

function aligned(a: Decimal, b: Decimal): [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  const scale = ({ digits, exponent: own }: Decimal): bigint => digits * 10n ** BigInt(own - exponent);
  return [scale(a), scale(b), exponent];
}

export function add(a: Decimal, b: Decimal): Decimal {
  const [x, y, exponent] = aligned(a, b);
  return { digits: x + y, exponent };
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  const [x, y, exponent] = aligned(a, b);
  return { digits: x - y, exponent };
}

export const multiply = (a: Decimal, b: Decimal): Decimal => ({
  digits: a.digits * b.digits,
  exponent: a.exponent + b.exponent,
});

/** Returns undefined for a division by zero. */
export function divide(a: Decimal, b: Decimal): Decimal | undefined {
  if (b.digits === 0n) return undefined;
  const shift = a.exponent - b.exponent + divisionPlaces;
  const [x, y] =
    shift >= 0 ? [a.digits * 10n ** BigInt(shift), b.digits] : [a.digits, b.digits * 10n ** BigInt(-shift)];
  const quotient = x / y;
  const remainder = x % y;
  const size = (value: bigint): bigint => (value < 0n ? -value : value);
  const up = size(remainder) * 2n >= size(y) ? (x < 0n === y < 0n ? 1n : -1n) : 0n;
  return { digits: quotient + up, exponent: -divisionPlaces };
}
