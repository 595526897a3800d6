import { type FieldSet, fieldSetOf } from './field-set.ts';

/** Members of metadata nobody owns: identity and bookkeeping of the server. */
export const unownedMetadata: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
]);

/** All fields nobody owns, though an applied configuration may mention them. */
export const unownedFields: FieldSet = fieldSetOf(
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...[...unownedMetadata].map((name) => ['metadata', name]),
);

/** What the main endpoint of a kind with a status subresource never owns. */
export const mainResetFields: FieldSet = fieldSetOf(['status']);

/** What the status endpoint never owns; some built-in kinds add to it. */
export const statusResetFields: FieldSet = fieldSetOf(['spec']);
