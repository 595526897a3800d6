import type { JsonValue, KubeObject, ResourceDefinition } from '../../machinery/index.ts';
import { type BuiltinKind, defineBuiltin } from './define.ts';
import { nameColumn } from './printing.ts';

/** A kind such as SubjectAccessReview that is created and answered, but never stored. */
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
    // Reviews need no name.
    validateName: () => [],
  });
}
