import { deepEqual, type FieldError, type KubeObject, type ResourceStrategy } from '../../machinery/index.ts';

/**
 * Validates a spec only when it changes. An object that was accepted once can always be labelled, and its finalizers
 * can always be removed.
 */
export function validateChangedSpec<T extends KubeObject & { spec?: unknown }>(
  validate: (object: T, old: T | undefined) => FieldError[],
): Pick<ResourceStrategy<T>, 'validateCreate' | 'validateUpdate'> {
  return {
    validateCreate: (object) => validate(object, undefined),
    validateUpdate: (object, old) => (deepEqual(object.spec, old.spec) ? [] : validate(object, old)),
  };
}
