import fc from 'fast-check';
import type { JsonValue } from '../value.ts';

/** Any JSON value that our parsers accept: they reject a field named `__proto__`. */
export function jsonValues(constraints: fc.JsonSharedConstraints = {}): fc.Arbitrary<JsonValue> {
  return fc
    .jsonValue(constraints)
    .filter((value) => !JSON.stringify(value).includes('"__proto__":')) as fc.Arbitrary<JsonValue>;
}
