import { type Constraints, type Field, type Fields, list, type ObjectOf, object, string } from '../kind/schema.ts';

/** v1beta2 has stricter constraints for the same fields than v1beta1. */
export type Era = 'v1beta1' | 'v1beta2';

export const text = (description: string, maxLength: number): Field<string> =>
  string(description, { minLength: 1, maxLength });

/** an optional object, which v1beta2 refuses when it is empty */
export function some<P extends Fields>(era: Era, fields: P, description: string): Field<ObjectOf<P>> {
  return object(fields, description, era === 'v1beta2' ? { minProperties: 1 } : {});
}

/** an atomic list, which v1beta2 refuses when it is empty */
export function items<T>(era: Era, item: Field<T, boolean>, description: string, maxItems: number): Field<T[]> {
  return era === 'v1beta2'
    ? list(item, description, { 'x-kubernetes-list-type': 'atomic', minItems: 1, maxItems })
    : list(item, description, { maxItems });
}

/** an atomic list that may be empty */
export function anyItems<T>(era: Era, item: Field<T, boolean>, description: string, maxItems: number): Field<T[]> {
  const limits: Constraints = { maxItems };
  return list(item, description, era === 'v1beta2' ? { ...limits, 'x-kubernetes-list-type': 'atomic' } : limits);
}
