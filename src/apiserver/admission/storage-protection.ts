import { must } from '../../machinery/index.ts';
import type { AdmissionStep } from './types.ts';

/** Claims wait for the pods that use them, volumes for the claims they are bound to. */
const finalizers: Readonly<Record<string, string>> = {
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
  persistentvolumes: 'kubernetes.io/pv-protection',
};

/**
 * Marks volumes and claims so that they stay while somebody uses them (StorageObjectInUseProtection). Controllers take
 * the marks away; where none run, deletes would never end and the step is left out.
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
