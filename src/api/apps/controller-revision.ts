import {
  type FieldError,
  fieldError,
  isJsonObject,
  type JsonValue,
  type KubeObject,
  parseApiVersion,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
  validateNonNegative,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';

export interface ControllerRevision extends KubeObject {
  data?: JsonValue;
  revision?: number;
}

function controllerName(revision: ControllerRevision): string {
  const owner = revision.metadata.ownerReferences?.find((reference) => reference.controller);
  if (!owner) return '<none>';
  const { group } = parseApiVersion(owner.apiVersion);
  return `${(group === '' ? owner.kind : `${owner.kind}.${group}`).toLowerCase()}/${owner.name}`;
}

function validateData(revision: ControllerRevision): FieldError[] {
  if (revision.data === undefined || revision.data === null) return [fieldError.required('data', 'data is mandatory')];
  return isJsonObject(revision.data) ? [] : [fieldError.required('data', 'data must be a valid JSON object')];
}

export const controllerRevisionDefinition: ResourceDefinition = defineBuiltin<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  namespaced: true,
  component: 'io.k8s.api.apps.v1.ControllerRevision',
  noGeneration: true,
  columns: [nameColumn, column('Controller'), column('Revision'), ageColumn],
  row: (revision, nowMs) => [
    revision.metadata.name ?? '',
    controllerName(revision),
    revision.revision ?? 0,
    age(revision, nowMs),
  ],
  applyDefaults(revision) {
    setDefault(revision, 'revision', 0);
  },
  validateCreate: (revision) => [...validateNonNegative(revision.revision, 'revision'), ...validateData(revision)],
  validateUpdate: (revision, old) => [
    ...validateNonNegative(revision.revision, 'revision'),
    ...validateImmutable(revision.data, old.data, 'data'),
  ],
});

export const ControllerRevisions: Resource<ControllerRevision> =
  resourceOf<ControllerRevision>(controllerRevisionDefinition);
