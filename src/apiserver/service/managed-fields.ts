import {
  type FieldSet,
  type ManagedFieldsEntry,
  mainResetFields,
  statusResetFields,
  type UnstructuredObject,
  updateManagedFields,
} from '../../machinery/index.ts';
import type { Target, WriteSettings } from './types.ts';

/** Returns the fields that an endpoint never owns: status for the main resource, spec for the status subresource. */
export function resetFieldsFor(target: Target, subresource: string | undefined): FieldSet | undefined {
  if (!target.version.hasStatus) return undefined;
  return subresource === 'status' || subresource === 'approval' ? statusResetFields : mainResetFields;
}

export function recordCreate(
  target: Target,
  object: UnstructuredObject,
  settings: WriteSettings,
  nowMs: number,
): void | Promise<void> {
  const resetFields = resetFieldsFor(target, undefined);
  const entries = updateManagedFields({
    next: object,
    liveManaged: [],
    manager: settings.fieldManager,
    apiVersion: target.apiVersion,
    nowMs,
    versions: target.resource.versionedKind,
    ...(resetFields && { resetFields }),
  });
  if (entries instanceof Promise) return entries.then((list) => setManagedFields(object, list));
  setManagedFields(object, entries);
}

interface RecordedUpdate {
  readonly object: UnstructuredObject;
  readonly live: UnstructuredObject;
  readonly subresource: string | undefined;
  readonly settings: WriteSettings;
  readonly nowMs: number;
}

/** Assigns changed fields to the writer and removes them from other owners. */
export function recordUpdate(
  target: Target,
  { object, live, subresource, settings, nowMs }: RecordedUpdate,
): void | Promise<void> {
  const resetFields = resetFieldsFor(target, subresource);
  const entries = updateManagedFields({
    live,
    next: object,
    liveManaged: live.metadata.managedFields ?? [],
    manager: settings.fieldManager,
    apiVersion: target.apiVersion,
    ...(subresource !== undefined && { subresource }),
    nowMs,
    versions: target.resource.versionedKind,
    ...(resetFields && { resetFields }),
  });
  if (entries instanceof Promise) return entries.then((list) => setManagedFields(object, list));
  setManagedFields(object, entries);
}

export function setManagedFields(object: UnstructuredObject, entries: ManagedFieldsEntry[]): void {
  if (entries.length > 0) object.metadata.managedFields = entries;
  else delete object.metadata.managedFields;
}
