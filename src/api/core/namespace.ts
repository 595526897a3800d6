import {
  type Condition,
  checkDns1123Label,
  checkQualifiedName,
  deepEqual,
  type FieldError,
  fieldError,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid } from '../common/validation.ts';

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: 'Active' | 'Terminating'; conditions?: Condition[] };
}

const nameLabel = 'kubernetes.io/metadata.name';

const standardFinalizers = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

function validate(object: Namespace): FieldError[] {
  const errors: FieldError[] = [];
  const path = 'spec.finalizers';
  for (const finalizer of object.spec?.finalizers ?? []) {
    errors.push(...invalid(path, finalizer, checkQualifiedName(finalizer)));
    if (!finalizer.includes('/') && !standardFinalizers.has(finalizer)) {
      const text = 'name is neither a standard finalizer name nor is it fully qualified';
      errors.push(fieldError.invalid(path, finalizer, text));
    }
  }
  return errors;
}

export const namespaceDefinition: ResourceDefinition = defineBuiltin<Namespace>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  namespaced: false,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  component: 'io.k8s.api.core.v1.Namespace',
  hasStatus: true,
  subresources: [{ name: 'finalize', verbs: ['update'], group: '', version: 'v1', kind: 'Namespace' }],
  noGeneration: true,
  columns: [nameColumn, column('Status'), ageColumn],
  row: (object, nowMs) => [object.metadata.name ?? '', object.status?.phase ?? '', age(object, nowMs)],
  selectableFields: {
    name: (object) => object.metadata.name ?? '',
    'status.phase': (object) => object.status?.phase ?? '',
  },
  applyDefaults(object) {
    const name = object.metadata.name;
    if (!name) return;
    object.metadata.labels ??= {};
    object.metadata.labels[nameLabel] = name;
  },
  prepareForCreate(object) {
    object.status = { phase: 'Active' };
    const finalizers = object.spec?.finalizers ?? [];
    object.spec = { finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'] };
  },
  prepareForUpdate(object, old) {
    // Finalizers change only through the finalize subresource.
    if (old.spec) object.spec = old.spec;
  },
  validateName: checkDns1123Label,
  validateCreate: validate,
  validateUpdate: validate,
  validateStatusUpdate(object) {
    const terminating = object.metadata.deletionTimestamp !== undefined;
    const phase = object.status?.phase ?? '';
    if (terminating && phase !== 'Terminating') {
      const text = "may only be 'Terminating' if `deletionTimestamp` is not empty";
      return [fieldError.invalid('status.Phase', phase, text)];
    }
    if (!terminating && phase !== 'Active') {
      const text = "may only be 'Active' if `deletionTimestamp` is empty";
      return [fieldError.invalid('status.Phase', phase, text)];
    }
    return [];
  },
});

/** Tells whether a terminating namespace has no finalizers left. */
export function isNamespaceFinalized(namespace: Namespace): boolean {
  return deepEqual(namespace.spec?.finalizers ?? [], []);
}

export const Namespaces: Resource<Namespace> = resourceOf<Namespace>(namespaceDefinition);
