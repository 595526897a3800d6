/** A Go integer with its type. Arithmetic wraps around. */
export class Int {
  readonly value: bigint;
  /** for example `int`, `int64`, `uint8`, `int32` or `time.Duration` */
  readonly type: string;

  constructor(value: bigint, type = 'int') {
    this.value = value;
    this.type = type;
  }

  get isUnsigned(): boolean {
    return this.type.startsWith('uint');
  }
}

export const int = (value: number): Int => new Int(BigInt(value), 'int');
export const int64 = (value: bigint | number): Int => new Int(BigInt.asIntN(64, BigInt(value)), 'int64');
