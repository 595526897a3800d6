import { asTyped, type ResourceDefinition, type UnstructuredObject } from '../../machinery/index.ts';
import { defaultCrd, prepareCrdStatus } from './defaults.ts';
import { NativeDefinitions, type NativeKinds } from './native.ts';
import { type CustomResourceDefinition, cleanupFinalizer } from './types.ts';
import { validateCrd } from './validate.ts';
import { crdWarnings } from './warnings.ts';

/** Adds the behavior of the CustomResourceDefinition kind, which configures the server itself. */
export function withCrdStrategy(definition: ResourceDefinition, native: NativeKinds): ResourceDefinition {
  const natives = new NativeDefinitions(native);
  const asCrd = (object: UnstructuredObject): CustomResourceDefinition => asTyped<CustomResourceDefinition>(object);
  return {
    ...definition,
    strategy: {
      ...definition.strategy,
      applyDefaults: (draft) => {
        natives.pin(asCrd(draft));
        defaultCrd(asCrd(draft));
      },
      prepareForCreate: (draft) => prepareCrdStatus(asCrd(draft)),
      prepareForUpdate: (draft, old) => prepareCrdStatus(asCrd(draft), asCrd(old)),
      validateCreate: (object) => validateCrd(asCrd(object)),
      validateUpdate: (object, old) => validateCrd(asCrd(object), asCrd(old)),
      // The delete itself adds the finalizer, so that no update can remove it earlier. Built-in kinds need no cleanup,
      // see nativeDefinitionsStay.
      deletionFinalizers: ({ metadata }) => (natives.has(metadata.name ?? '') ? [] : [cleanupFinalizer]),
      warnings: (object, old) => [...natives.warnings(object), ...crdWarnings(asCrd(object), old && asCrd(old))],
    },
  };
}
