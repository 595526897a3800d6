import { must } from '../errors/must.ts';

// Kubernetes quantities: exact numbers with a decimal or binary suffix ("500m", "1Gi", "12e6").

export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** An exact amount in billionths, and its preferred notation. */
export interface Quantity {
  nanos: bigint;
  format: QuantityFormat;
}

const nano = 1_000_000_000n;
/** Upstream limits amounts to the range of an int64. */
const maxNanos = (2n ** 63n - 1n) * nano;

const decimalSuffixes = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const pattern = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:(n|u|m|k|M|G|T|P|E)|(Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?[0-9]+))?$/;

const shortWholeNumber = /^[1-9][0-9]{0,2}(?:Ki|Mi|Gi|m)?$/;

/** Upstream's error text for an invalid quantity. */
export const quantityFormatText: string =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const powersOfTen: readonly bigint[] = Array.from({ length: 120 }, (_, exponent) => 10n ** BigInt(exponent));
const binaryMultipliers: readonly bigint[] = binarySuffixes.map((_, step) => 1024n ** BigInt(step));

function tenTo(exponent: number): bigint {
  return powersOfTen[exponent] ?? 10n ** BigInt(exponent);
}

/** Parses a quantity, or a JSON number in its place; undefined if invalid. */
export function parseQuantity(value: unknown): Quantity | undefined {
  const text = typeof value === 'number' ? numberText(value) : value;
  if (typeof text !== 'string') return undefined;
  const match = pattern.exec(text);
  if (!match) return undefined;
  const whole = match[2] ?? '';
  const fraction = match[3] ?? '';
  if (whole === '' && fraction === '') return undefined;
  let format: QuantityFormat = 'DecimalSI';
  let exponent = 0;
  let multiplier = 1n;
  if (match[4] !== undefined) exponent = 3 * (decimalSuffixes.indexOf(match[4]) - 3);
  else if (match[5] !== undefined) {
    format = 'BinarySI';
    multiplier = must(binaryMultipliers[binarySuffixes.indexOf(match[5])], match[5]);
  } else if (match[6] !== undefined) {
    format = 'DecimalExponent';
    exponent = Number(match[6]);
    if (Math.abs(exponent) > 100) return undefined;
  }
  const digits = BigInt(whole + fraction) * multiplier;
  const scale = 9 + exponent - fraction.length;
  let nanos: bigint;
  if (scale >= 0) nanos = digits * tenTo(scale);
  else {
    // Amounts below a billionth are rounded away from zero, as upstream.
    const divisor = tenTo(-scale);
    nanos = (digits + divisor - 1n) / divisor;
  }
  if (nanos > maxNanos) nanos = maxNanos;
  return { nanos: match[1] === '-' ? -nanos : nanos, format };
}

function numberText(value: number): string {
  return Number.isFinite(value) ? String(value) : '';
}

/** Formats an amount canonically, as upstream: no fraction, with the largest suffix that avoids one. */
export function formatQuantity(quantity: Quantity): string {
  const { nanos } = quantity;
  if (nanos === 0n) return '0';
  let format = quantity.format;
  if (format === 'BinarySI' && ((nanos > -1024n * nano && nanos < 1024n * nano) || nanos % nano !== 0n)) {
    format = 'DecimalSI';
  }
  if (format === 'BinarySI') {
    let amount = nanos / nano;
    let step = 0;
    while (step < binarySuffixes.length - 1 && amount % 1024n === 0n) {
      amount /= 1024n;
      step++;
    }
    return `${amount}${binarySuffixes[step]}`;
  }
  let amount = nanos;
  let step = 0;
  while (step < decimalSuffixes.length - 1 && amount % 1000n === 0n) {
    amount /= 1000n;
    step++;
  }
  if (format === 'DecimalSI') return `${amount}${decimalSuffixes[step]}`;
  return step === 3 ? `${amount}` : `${amount}e${3 * (step - 3)}`;
}

/** Canonical text of a quantity; undefined if invalid. */
export function canonicalQuantity(value: unknown): string | undefined {
  // Most amounts are already canonical.
  if (typeof value === 'string' && shortWholeNumber.test(value)) return value;
  const quantity = parseQuantity(value);
  return quantity && formatQuantity(quantity);
}

/** Negative if `a` is smaller. Invalid texts count as zero. */
export function compareQuantities(a: unknown, b: unknown): number {
  const left = parseQuantity(a)?.nanos ?? 0n;
  const right = parseQuantity(b)?.nanos ?? 0n;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Returns the sum in the notation of the first operand. Invalid texts count as zero. */
export function addQuantities(a: unknown, b: unknown): string {
  const left = parseQuantity(a);
  const right = parseQuantity(b);
  const format = left && left.nanos !== 0n ? left.format : (right?.format ?? 'DecimalSI');
  return formatQuantity({ nanos: (left?.nanos ?? 0n) + (right?.nanos ?? 0n), format });
}

/** The amount as a whole number, rounded up: bytes of memory, counts of pods. */
export function quantityValue(value: unknown): number {
  const nanos = parseQuantity(value)?.nanos ?? 0n;
  return Number(nanos >= 0n ? (nanos + nano - 1n) / nano : nanos / nano);
}

/** The amount in thousandths, rounded up: CPU. */
export function quantityMilliValue(value: unknown): number {
  const nanos = parseQuantity(value)?.nanos ?? 0n;
  const milli = nano / 1000n;
  return Number(nanos >= 0n ? (nanos + milli - 1n) / milli : nanos / milli);
}
