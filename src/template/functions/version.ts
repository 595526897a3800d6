import { FunctionError } from '../errors.ts';
import { type GoMethod, GoObject, Int, typeOf, type Value } from '../values/index.ts';

const loose =
  /^v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?(-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** A version as parsed by Masterminds/semver: `v1.2` is 1.2.0. */
export class Version extends GoObject {
  readonly typeName = '*semver.Version';
  override readonly kind = 'ptr';
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  readonly prerelease: string;
  readonly metadata: string;
  readonly original: string;

  constructor(text: string) {
    super();
    const found = loose.exec(text);
    if (!found) throw new FunctionError('invalid semantic version');
    const [, major, minor, patch, , prerelease = '', , metadata = ''] = found;
    const segment = (digits: string | undefined): bigint => {
      const bare = digits?.replace('.', '') ?? '0';
      const value = BigInt(bare);
      if (value >= 2n ** 64n) {
        throw new FunctionError(
          `error parsing version segment: strconv.ParseUint: parsing "${bare}": value out of range`,
        );
      }
      return value;
    };
    this.major = segment(major);
    this.minor = segment(minor);
    this.patch = segment(patch);
    if (prerelease.split('.').some((part) => /^0[0-9]+$/.test(part))) {
      throw new FunctionError('version segment starts with 0');
    }
    this.prerelease = prerelease;
    this.metadata = metadata;
    this.original = text;
  }

  compare(other: Version): number {
    for (const part of ['major', 'minor', 'patch'] as const) {
      if (this[part] !== other[part]) return this[part] < other[part] ? -1 : 1;
    }
    return comparePrereleases(this.prerelease, other.prerelease);
  }

  toText(): string {
    const pre = this.prerelease === '' ? '' : `-${this.prerelease}`;
    return `${this.major}.${this.minor}.${this.patch}${pre}${this.metadata === '' ? '' : `+${this.metadata}`}`;
  }

  override identity(): string {
    return this.original;
  }

  override method(name: string): GoMethod | undefined {
    const value = (result: Value): GoMethod => ({ parameters: [], call: () => result });
    const comparison = (decide: (order: number) => Value): GoMethod => ({
      parameters: [this.typeName],
      call: ([other]) => {
        if (!(other instanceof Version)) throw new FunctionError(`not a version: ${typeOf(other)}`);
        return decide(this.compare(other));
      },
    });
    switch (name) {
      case 'Major':
        return value(new Int(this.major, 'uint64'));
      case 'Minor':
        return value(new Int(this.minor, 'uint64'));
      case 'Patch':
        return value(new Int(this.patch, 'uint64'));
      case 'Prerelease':
        return value(this.prerelease);
      case 'Metadata':
        return value(this.metadata);
      case 'Original':
        return value(this.original);
      case 'String':
        return value(this.toText());
      case 'Compare':
        return comparison((order) => new Int(BigInt(Math.sign(order))));
      case 'Equal':
        return comparison((order) => order === 0);
      case 'LessThan':
        return comparison((order) => order < 0);
      case 'GreaterThan':
        return comparison((order) => order > 0);
    }
    return undefined;
  }
}

export function comparePrereleases(a: string, b: string): number {
  if (a === b) return 0;
  if (a === '' || b === '') return a === '' ? 1 : -1;
  const [left, right] = [a.split('.'), b.split('.')];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const [x, y] = [left[i], right[i]];
    if (x === y) continue;
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    const [isX, isY] = [/^[0-9]+$/.test(x), /^[0-9]+$/.test(y)];
    if (isX && isY) return BigInt(x) < BigInt(y) ? -1 : BigInt(x) > BigInt(y) ? 1 : 0;
    // Numeric identifiers sort before alphanumeric ones.
    if (isX !== isY) return isX ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return 0;
}
