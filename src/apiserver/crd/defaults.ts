import type { CrdNames, CrdSpec, CustomResourceDefinition } from './types.ts';

/**
 * Applies the defaults of apiextensions v1: singular and list names, conversion strategy None, and the HTTPS port of a
 * webhook service.
 */
export function defaultCrd(draft: CustomResourceDefinition): void {
  // Validation reports missing fields later; until then they have Go's zero values.
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
  // false is the zero value, which is never serialized.
  if (spec.preserveUnknownFields === false) delete spec.preserveUnknownFields;
}

/**
 * Sets the status of a definition that is written through the main resource. Users cannot change the status, but the
 * storage version is added to storedVersions.
 */
export function prepareCrdStatus(draft: CustomResourceDefinition, old?: CustomResourceDefinition): void {
  const before = old?.status ?? { acceptedNames: { plural: '', kind: '' }, conditions: null, storedVersions: [] };
  const storage = draft.spec?.versions?.find((version) => version.storage)?.name;
  const stored = before.storedVersions ?? [];
  const storedVersions = storage === undefined || stored.includes(storage) ? stored : [...stored, storage];
  draft.status = { ...before, storedVersions };
}
