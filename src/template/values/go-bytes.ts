import { GoObject } from './go-object.ts';
import type { Value } from './value.ts';

/** A `[]byte` that is not a string. */
export class GoBytes extends GoObject {
  readonly typeName = '[]uint8';
  override readonly kind = 'slice';
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    super();
    this.bytes = bytes;
  }

  toText(): string {
    return `[${this.bytes.join(' ')}]`;
  }

  /** Returns the bytes as a string, for `toString`. */
  asString(): string {
    return Buffer.from(this.bytes).toString('utf8');
  }

  override isTrue(): boolean {
    return this.bytes.length > 0;
  }

  override toJson(): Value {
    return Buffer.from(this.bytes).toString('base64');
  }
}
