import { elementType, GoObject, isList, isMap, typeOf, type Value } from '../values/index.ts';

/** Reports whether Go accepts nil for a parameter of this type. */
export function canBeNil(type: string): boolean {
  return type === 'interface {}' || type === 'reflect.Value' || /^(?:\[\]|map\[|\*|func)/.test(type);
}

export function isAssignable(value: Exclude<Value, undefined | null>, type: string): boolean {
  if (type === 'interface {}' || type === 'reflect.Value') return true;
  if (typeOf(value) === type) return true;
  if (isMap(value)) return type === `map[string]${elementType(value)}`;
  if (isList(value)) return type === `[]${elementType(value)}`;
  return value instanceof GoObject && value.typeName === `*${type}`;
}
