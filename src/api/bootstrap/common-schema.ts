import { type Constraints, type Field, type Fields, list, type ObjectOf, object, string } from '../kind/schema.ts';

/** v1beta2 says of the same fields more exactly what they may hold than v1beta1 did */
export type Era = 'v1beta1' | 'v1beta2';

export const text = (description: string, maxLength: number): Field<string> =>
  string(description, { minLength: 1, maxLength });

/** an optional object; v1beta2 refuses it empty */
export function some<P extends Fields>(era: Era, fields: P, description: string): Field<ObjectOf<P>> {
  return object(fields, description, era === 'v1beta2' ? { minProperties: 1 } : {});
}

/** a list that is replaced as a whole; v1beta2 refuses it empty */
export function items<T>(era: Era, item: Field<T, boolean>, description: string, maxItems: number): Field<T[]> {
  return era === 'v1beta2'
    ? list(item, description, { 'x-kubernetes-list-type': 'atomic', minItems: 1, maxItems })
    : list(item, description, { maxItems });
}

/** a list that is replaced as a whole and may be empty */
export function anyItems<T>(era: Era, item: Field<T, boolean>, description: string, maxItems: number): Field<T[]> {
  const limits: Constraints = { maxItems };
  return list(item, description, era === 'v1beta2' ? { ...limits, 'x-kubernetes-list-type': 'atomic' } : limits);
}
