/** An integer of Go with its type; arithmetic wraps around as it does there. */
export class Int {
  readonly value: bigint;
  /** `int`, `int64`, `uint8`, `int32`, `time.Duration` … */
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
