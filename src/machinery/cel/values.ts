import { formatIp } from '../net/ip.ts';

/**
 * A CEL value. Integers are bigint and doubles are number, so that they can be distinguished. Types without a
 * JavaScript counterpart have a class.
 */
export type CelValue =
  | null
  | boolean
  | string
  | bigint
  | number
  | Uint
  | Uint8Array
  | CelList
  | CelMap
  | Timestamp
  | Duration
  | Optional
  | CelType
  | Opaque;

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A duration in nanoseconds. */
export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A timestamp in nanoseconds since the epoch. */
export class Timestamp {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** An optional value; `undefined` inside means none. */
export class Optional {
  static readonly none: Optional = new Optional(undefined);
  readonly value: CelValue | undefined;

  constructor(value: CelValue | undefined) {
    this.value = value;
  }
}

/** The type of a value, as returned by `type(x)`. */
export class CelType {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** How list elements are identified: by position, by value (set) or by key fields (map). */
export type ListIdentity = 'atomic' | 'set' | { keys: readonly string[] };

export class CelList {
  readonly items: readonly CelValue[];
  readonly identity: ListIdentity;

  constructor(items: readonly CelValue[], identity: ListIdentity = 'atomic') {
    this.items = items;
    this.identity = identity;
  }
}

/** Common interface of maps and objects. */
export interface CelMap {
  readonly isMap: true;
  readonly size: number;
  /** undefined if the key does not exist */
  get(key: CelValue): CelValue | undefined;
  keys(): CelValue[];
}

/** A map built by an expression. */
export class EntryMap implements CelMap {
  readonly isMap = true;
  readonly #entries = new Map<MapKey, CelValue>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: CelValue): CelValue | undefined {
    const normal = mapKey(key);
    return normal === undefined ? undefined : this.#entries.get(normal);
  }

  keys(): CelValue[] {
    return [...this.#entries.keys()];
  }

  /** Returns false if the key already exists. */
  add(key: CelValue, value: CelValue): boolean {
    const normal = mapKey(key);
    if (normal === undefined) throw new CelError(`unsupported key type: ${typeName(key)}`);
    if (this.#entries.has(normal)) return false;
    this.#entries.set(normal, value);
    return true;
  }
}

type MapKey = string | bigint | boolean;

/** Numbers of equal value are one key, regardless of type. */
function mapKey(key: CelValue): MapKey | undefined {
  if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') return key;
  if (key instanceof Uint) return key.value;
  return typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : undefined;
}

/** A value that only library functions can inspect. */
export abstract class Opaque {
  abstract readonly typeName: string;
  abstract equals(other: Opaque): boolean;
}

export class IpAddress extends Opaque {
  readonly typeName = 'kubernetes.IP';
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    super();
    this.bytes = bytes;
  }

  equals(other: Opaque): boolean {
    return other instanceof IpAddress && sameBytes(this.bytes, other.bytes);
  }

  override toString(): string {
    return formatIp(this.bytes);
  }
}

export class CidrBlock extends Opaque {
  readonly typeName = 'kubernetes.CIDR';
  readonly address: Uint8Array;
  readonly prefixLength: number;

  constructor(address: Uint8Array, prefixLength: number) {
    super();
    this.address = address;
    this.prefixLength = prefixLength;
  }

  equals(other: Opaque): boolean {
    return (
      other instanceof CidrBlock && other.prefixLength === this.prefixLength && sameBytes(this.address, other.address)
    );
  }

  override toString(): string {
    return `${formatIp(this.address)}/${this.prefixLength}`;
  }
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** An evaluation error with the wording of cel-go. */
export class CelError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CelError';
  }
}

export function isMap(value: CelValue | undefined): value is CelMap {
  return typeof value === 'object' && value !== null && 'isMap' in value;
}

/** Name of a value's type, as in `type(x)` and in messages. */
export function typeName(value: CelValue): string {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    default:
  }
  if (value === null) return 'null_type';
  if (value instanceof Uint) return 'uint';
  if (value instanceof Uint8Array) return 'bytes';
  if (value instanceof CelList) return 'list';
  if (value instanceof Duration) return 'google.protobuf.Duration';
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (value instanceof Optional) return 'optional_type';
  if (value instanceof CelType) return 'type';
  return value instanceof Opaque ? value.typeName : 'map';
}
