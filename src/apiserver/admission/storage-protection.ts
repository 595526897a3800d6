import { must } from '../../machinery/index.ts';
import type { AdmissionStep } from './types.ts';

/** A claim is protected while pods use it, and a volume while it is bound to a claim. */
const finalizers: Readonly<Record<string, string>> = {
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  persistentvolumes: 'kubernetes.io/pv-protection',
};

/**
 * Adds finalizers to volumes and claims (StorageObjectInUseProtection). Controllers remove them. Without these
 * controllers deletions would never finish, so the step is disabled.
 */
export const storageInUseProtection: AdmissionStep = {
  name: 'StorageObjectInUseProtection',
  concerns: ({ group, plural }) => group === '' && Object.hasOwn(finalizers, plural),
  operations: ['CREATE'],
  mutate({ object, target }) {
    const finalizer = must(finalizers[target.resource.definition.plural], 'finalizer');
    const { metadata } = must(object, 'object');
    const present = metadata.finalizers ?? [];
    if (!present.includes(finalizer)) metadata.finalizers = [...present, finalizer];
  },
};
