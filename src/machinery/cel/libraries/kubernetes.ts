import { must } from '../../errors/must.ts';
import { formatCheck } from '../../schema/formats.ts';
import {
  checkDns1035Label,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
  maskTrailingDash,
} from '../../validation/names.ts';
import { parseQuantity } from '../../validation/quantity.ts';
import { defineFunction, defineMethod } from '../library.ts';
import { CelError, CelList, Opaque, Optional } from '../values.ts';

const nano = 1_000_000_000n;

class QuantityValue extends Opaque {
  readonly typeName = 'kubernetes.Quantity';
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    super();
    this.nanos = nanos;
  }

  equals(other: Opaque): boolean {
    return other instanceof QuantityValue && other.nanos === this.nanos;
  }
}

function compareBigints(a: bigint, b: bigint): bigint {
  return a < b ? -1n : a > b ? 1n : 0n;
}

const nanosOf = (value: unknown): bigint => (value as QuantityValue).nanos;

defineFunction('quantity(string): Quantity', ([text]) => {
  const quantity = parseQuantity(text);
  if (!quantity)
    throw new CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  return new QuantityValue(quantity.nanos);
});
defineFunction('isQuantity(string): bool', ([text]) => parseQuantity(text) !== undefined);
const sign = (value: unknown): bigint => compareBigints(nanosOf(value), 0n);
defineFunction('sign(Quantity): int', ([quantity]) => sign(quantity));
defineMethod('sign(Quantity): int', ([quantity]) => sign(quantity));
defineMethod('isInteger(Quantity): bool', ([quantity]) => nanosOf(quantity) % nano === 0n);
defineMethod('asInteger(Quantity): int', ([quantity]) => {
  if (nanosOf(quantity) % nano !== 0n) throw new CelError('cannot convert value to integer');
  return nanosOf(quantity) / nano;
});
defineMethod('asApproximateFloat(Quantity): double', ([quantity]) => Number(nanosOf(quantity)) / 1e9);
defineMethod('add(Quantity, Quantity): Quantity', ([a, b]) => new QuantityValue(nanosOf(a) + nanosOf(b)));
defineMethod('add(Quantity, int): Quantity', ([a, b]) => new QuantityValue(nanosOf(a) + (b as bigint) * nano));
defineMethod('sub(Quantity, Quantity): Quantity', ([a, b]) => new QuantityValue(nanosOf(a) - nanosOf(b)));
defineMethod('sub(Quantity, int): Quantity', ([a, b]) => new QuantityValue(nanosOf(a) - (b as bigint) * nano));
defineMethod('isLessThan(Quantity, Quantity): bool', ([a, b]) => nanosOf(a) < nanosOf(b));
defineMethod('isGreaterThan(Quantity, Quantity): bool', ([a, b]) => nanosOf(a) > nanosOf(b));
defineMethod('compareTo(Quantity, Quantity): int', ([a, b]) => compareBigints(nanosOf(a), nanosOf(b)));

class SemverValue extends Opaque {
  readonly typeName = 'kubernetes.Semver';
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly prerelease: readonly string[];
  readonly build: string;

  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly string[], build: string) {
    super();
    this.numbers = numbers;
    this.prerelease = prerelease;
    this.build = build;
  }

  equals(other: Opaque): boolean {
    return other instanceof SemverValue && compareSemver(this, other) === 0n;
  }
}

const identifier = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)';
const semver = new RegExp(
  `^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$`,
);

/** `normalize` accepts a leading v, missing minor and patch numbers, and leading zeros. */
function parseSemver(text: string, { normalize }: { normalize: boolean }): SemverValue | undefined {
  let candidate = text;
  if (normalize) {
    const parts = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+].*)?$/.exec(text);
    if (!parts) return undefined;
    const number = (digits: string | undefined): string => BigInt(digits ?? '0').toString();
    candidate = `${number(parts[1])}.${number(parts[2])}.${number(parts[3])}${parts[4] ?? ''}`;
  }
  const match = semver.exec(candidate);
  if (!match) return undefined;
  const [, major = '', minor = '', patch = '', prerelease, build = ''] = match;
  const numbers = [BigInt(major), BigInt(minor), BigInt(patch)] as const;
  return new SemverValue(numbers, prerelease?.split('.') ?? [], build);
}

function compareSemver(a: SemverValue, b: SemverValue): bigint {
  for (const [i, number] of a.numbers.entries()) {
    const order = compareBigints(number, b.numbers[i] ?? 0n);
    if (order !== 0n) return order;
  }
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return (
      compareBigints(BigInt(b.prerelease.length), BigInt(a.prerelease.length)) && (a.prerelease.length === 0 ? 1n : -1n)
    );
  }
  for (let i = 0; i < Math.max(a.prerelease.length, b.prerelease.length); i++) {
    const [left, right] = [a.prerelease[i], b.prerelease[i]];
    if (left === undefined || right === undefined) return left === undefined ? -1n : 1n;
    const [leftNumber, rightNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
    if (leftNumber !== rightNumber) return leftNumber ? -1n : 1n;
    const order = leftNumber
      ? compareBigints(BigInt(left), BigInt(right))
      : left < right
        ? -1n
        : left > right
          ? 1n
          : 0n;
    if (order !== 0n) return order;
  }
  return 0n;
}

function toSemver(text: string, { normalize }: { normalize: boolean }): SemverValue {
  const version = parseSemver(text, { normalize });
  if (!version)
    throw new CelError(`semver parse error on string ${JSON.stringify(text)}: No Major.Minor.Patch elements found`);
  return version;
}

defineFunction('semver(string): Semver', ([text]) => toSemver(text as string, { normalize: false }));
defineFunction('semver(string, bool): Semver', ([text, normalize]) =>
  toSemver(text as string, { normalize: normalize as boolean }),
);
defineFunction('isSemver(string): bool', ([text]) => parseSemver(text as string, { normalize: false }) !== undefined);
defineFunction(
  'isSemver(string, bool): bool',
  ([text, normalize]) => parseSemver(text as string, { normalize: normalize as boolean }) !== undefined,
);
for (const [i, name] of ['major', 'minor', 'patch'].entries()) {
  defineMethod(`${name}(Semver): int`, ([version]) => must((version as SemverValue).numbers[i], 'numbers'));
}
defineMethod('isLessThan(Semver, Semver): bool', ([a, b]) => compareSemver(a as SemverValue, b as SemverValue) < 0n);
defineMethod('isGreaterThan(Semver, Semver): bool', ([a, b]) => compareSemver(a as SemverValue, b as SemverValue) > 0n);
defineMethod('compareTo(Semver, Semver): int', ([a, b]) => compareSemver(a as SemverValue, b as SemverValue));

/** A named string format that returns the violations of a text. */
class FormatValue extends Opaque {
  readonly typeName = 'kubernetes.Format';
  readonly name: string;
  readonly check: (text: string) => string[];

  constructor(name: string, check: (text: string) => string[]) {
    super();
    this.name = name;
    this.check = check;
  }

  equals(other: Opaque): boolean {
    return other instanceof FormatValue && other.name === this.name;
  }
}

const formatted =
  (format: string, problem: string): ((text: string) => string[]) =>
  (text) =>
    must(formatCheck(format), 'formatCheck(format)')(text) ? [] : [problem];

const formats: Record<string, (text: string) => string[]> = {
  dns1123Label: checkDns1123Label,
  dns1123Subdomain: checkDns1123Subdomain,
  dns1035Label: checkDns1035Label,
  qualifiedName: checkQualifiedName,
  dns1123LabelPrefix: (text) => checkDns1123Label(maskTrailingDash(text)),
  dns1123SubdomainPrefix: (text) => checkDns1123Subdomain(maskTrailingDash(text)),
  dns1035LabelPrefix: (text) => checkDns1035Label(maskTrailingDash(text)),
  labelValue: checkLabelValue,
  uri: formatted('uri', 'invalid URI for request'),
  uuid: formatted('uuid', 'does not match the UUID format'),
  byte: formatted('byte', 'invalid base64'),
  date: formatted('date', 'invalid date'),
  datetime: formatted('datetime', 'invalid datetime'),
};

for (const [name, check] of Object.entries(formats)) {
  defineFunction(`format.${name}(): Format`, () => new FormatValue(name, check));
}
defineFunction('format.named(string): optional<Format>', ([name]) => {
  const check = Object.hasOwn(formats, name as string) ? formats[name as string] : undefined;
  return check ? new Optional(new FormatValue(name as string, check)) : Optional.none;
});
defineMethod('validate(Format, string): optional<list<string>>', ([format, text]) => {
  const problems = (format as FormatValue).check(text as string);
  return problems.length === 0 ? Optional.none : new Optional(new CelList(problems));
});
