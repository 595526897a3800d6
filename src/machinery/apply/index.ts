export { type AppliedConfiguration, type ApplyConfigurationInput, applyConfiguration } from './apply-configuration.ts';
export { type ApplyConflict, ApplyConflictError, ApplyError } from './apply-error.ts';
export {
  decodeFieldsV1,
  difference as differenceOfFields,
  encodeFieldsV1,
  type FieldOrder,
  type FieldSet,
  fieldSetOf,
  intersection as intersectionOfFields,
  leaves as leavesOfFields,
  recursiveDifference as recursiveDifferenceOfFields,
  union as unionOfFields,
} from './field-set.ts';
export { equalIgnoringTimes as equalManagedFieldsIgnoringTimes } from './managed-entries.ts';
export { mainResetFields, statusResetFields } from './unowned-fields.ts';
export { type UpdateManagedFieldsInput, updateManagedFields } from './update-managed-fields.ts';
export type { VersionedKind } from './versioned-kind.ts';
