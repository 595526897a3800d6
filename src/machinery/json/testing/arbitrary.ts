import fc from 'fast-check';
import type { JsonValue } from '../value.ts';

/** Any value that can have come in through a parser of ours: those refuse a field called `__proto__`. */
export function jsonValues(constraints: fc.JsonSharedConstraints = {}): fc.Arbitrary<JsonValue> {
  return fc
    .jsonValue(constraints)
    .filter((value) => !JSON.stringify(value).includes('"__proto__":')) as fc.Arbitrary<JsonValue>;
}
