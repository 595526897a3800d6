import { GoObject } from './go-object.ts';
import type { Value } from './value.ts';

/** A `[]byte` that is not text. */
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

  /** The bytes as a string, which `toString` gives. */
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
