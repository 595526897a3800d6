import { celCompare, celEquals } from '../compare.ts';
import { defineFunction, defineMethod } from '../library.ts';
import { add } from '../operators.ts';
import { CelError, CelList, type CelValue, Duration, Optional } from '../values.ts';

const ordered = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];
const summable: Record<string, CelValue> = { int: 0n, double: 0, duration: new Duration(0n) };

const items = (list: CelValue | undefined): readonly CelValue[] => (list as CelList).items;

function extreme(list: readonly CelValue[], wanted: number, name: string): CelValue {
  if (list.length === 0) throw new CelError(`${name} called on empty list`);
  return list.reduce((best, item) => (celCompare(item, best) === wanted ? item : best));
}

for (const type of ordered) {
  defineMethod(`isSorted(list<${type}>): bool`, ([list], meter) => {
    meter.charge(items(list).length);
    return items(list).every((item, i, all) => i === 0 || celCompare(all[i - 1] ?? null, item) <= 0);
  });
  defineMethod(`min(list<${type}>): ${type}`, ([list], meter) => {
    meter.charge(items(list).length);
    return extreme(items(list), -1, 'min');
  });
  defineMethod(`max(list<${type}>): ${type}`, ([list], meter) => {
    meter.charge(items(list).length);
    return extreme(items(list), 1, 'max');
  });
}
for (const [type, zero] of Object.entries(summable)) {
  defineMethod(`sum(list<${type}>): ${type}`, ([list], meter) => {
    meter.charge(items(list).length);
    const values = items(list);
    // the type of an empty list is not known when it runs: zero fits all but durations and doubles, which start over
    return values.length === 0 ? zero : values.reduce((total, item) => add(total, item, meter));
  });
}
defineMethod('indexOf(list<T>, T): int', ([list, wanted], meter) => {
  meter.charge(items(list).length);
  return BigInt(items(list).findIndex((item) => wanted !== undefined && celEquals(item, wanted)));
});
defineMethod('lastIndexOf(list<T>, T): int', ([list, wanted], meter) => {
  meter.charge(items(list).length);
  return BigInt(items(list).findLastIndex((item) => wanted !== undefined && celEquals(item, wanted)));
});

defineFunction('optional.of(T): optional<T>', ([value]) => new Optional(value));
defineFunction('optional.none(): optional<T>', () => Optional.none);
defineFunction('optional.ofNonZeroValue(T): optional<T>', ([value]) =>
  isZero(value ?? null) ? Optional.none : new Optional(value),
);
defineMethod('hasValue(optional<T>): bool', ([optional]) => (optional as Optional).value !== undefined);
defineMethod('value(optional<T>): T', ([optional]) => {
  const { value } = optional as Optional;
  if (value === undefined) throw new CelError('optional.none() dereference');
  return value;
});
defineMethod('or(optional<T>, optional<T>): optional<T>', ([optional, other]) =>
  (optional as Optional).value === undefined ? (other ?? null) : (optional ?? null),
);
defineMethod(
  'orValue(optional<T>, T): T',
  ([optional, otherwise]) => (optional as Optional).value ?? otherwise ?? null,
);

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === '' || value === 0n || value === 0) return true;
  if (value instanceof CelList) return value.items.length === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Duration) return value.nanos === 0n;
  return typeof value === 'object' && 'isMap' in value && value.size === 0;
}
