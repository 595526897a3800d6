import { type FieldSet, fieldSetOf } from './field-set.ts';

/** Members of metadata nobody owns, because the server maintains them. */
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

/** All fields nobody owns, even if an applied configuration mentions them. */
export const unownedFields: FieldSet = fieldSetOf(
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...[...unownedMetadata].map((name) => ['metadata', name]),
);

/** Fields the main endpoint of a kind with a status subresource never owns. */
export const mainResetFields: FieldSet = fieldSetOf(['status']);

/** Fields the status endpoint never owns. Some built-in kinds add to it. */
export const statusResetFields: FieldSet = fieldSetOf(['spec']);
