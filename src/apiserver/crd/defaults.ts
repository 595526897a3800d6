import type { CrdNames, CrdSpec, CustomResourceDefinition } from './types.ts';

/** Fills in what apiextensions v1 defaults: singular and list names, no conversion, the HTTPS port of a webhook service. */
export function defaultCrd(draft: CustomResourceDefinition): void {
  // What is absent is refused later, field by field; until then it is as empty as Go's zero values.
  draft.spec ??= {} as CrdSpec;
  const { spec } = draft;
  spec.names ??= {} as CrdNames;
  if (spec.names.kind) {
    spec.names.singular ||= spec.names.kind.toLowerCase();
    spec.names.listKind ||= `${spec.names.kind}List`;
  }
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service) service.port ??= 443;
  // false is the zero value, which is never written out
  if (spec.preserveUnknownFields === false) delete spec.preserveUnknownFields;
}

/**
 * Sets the status of a definition that is about to be written through the main resource: users cannot change it, but the
 * storage version becomes one of the versions that objects may be stored in.
 */
export function prepareCrdStatus(draft: CustomResourceDefinition, old?: CustomResourceDefinition): void {
  const before = old?.status ?? { acceptedNames: { plural: '', kind: '' }, conditions: null, storedVersions: [] };
  const storage = draft.spec?.versions?.find((version) => version.storage)?.name;
  const stored = before.storedVersions ?? [];
  const storedVersions = storage === undefined || stored.includes(storage) ? stored : [...stored, storage];
  draft.status = { ...before, storedVersions };
}
