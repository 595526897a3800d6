import type { JsonValue, KubeObject, ResourceDefinition } from '../../machinery/index.ts';
import { type BuiltinKind, defineBuiltin } from './define.ts';
import { nameColumn } from './printing.ts';

/** A kind that is a question, not an object: created, answered, never stored. */
export type ReviewKind<T extends KubeObject> = Pick<
  BuiltinKind<T>,
  'group' | 'kind' | 'plural' | 'namespaced' | 'component' | 'validateCreate'
>;

export function defineReview<T extends KubeObject>(kind: ReviewKind<T>): ResourceDefinition {
  return defineBuiltin<T>({
    ...kind,
    version: 'v1',
    verbs: ['create'],
    noGeneration: true,
    columns: [nameColumn],
    row: (object): JsonValue[] => [object.metadata?.name ?? ''],
    // questions need no name
    validateName: () => [],
  });
}
