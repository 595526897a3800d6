import { type FieldError, fieldError } from '../errors/field-error.ts';
import { deepEqual } from '../json/value.ts';
import type { ObjectMeta, OwnerReference } from '../meta/types.ts';
import { validateAnnotations, validateLabels } from './labels.ts';
import { checkDns1123Label, checkDns1123Subdomain, checkQualifiedName, maskTrailingDash } from './names.ts';
import { validateNonNegative } from './numbers.ts';

export interface ObjectMetaOptions {
  namespaced: boolean;
  /** returns the errors of a name; default: a DNS-1123 subdomain */
  nameValidator?: ((name: string) => string[]) | undefined;
  /** path of the metadata; default: `metadata` */
  path?: string;
}

export const immutableText = 'field is immutable';

/** Validates metadata of a new object. Names must be generated before. */
export function validateObjectMeta(meta: ObjectMeta, options: ObjectMetaOptions): FieldError[] {
  const path = options.path ?? 'metadata';
  const checkName = options.nameValidator ?? checkDns1123Subdomain;
  const errors: FieldError[] = [];
  if (meta.generateName) {
    for (const text of checkName(maskTrailingDash(meta.generateName))) {
      errors.push(fieldError.invalid(`${path}.generateName`, meta.generateName, text));
    }
  }
  if (!meta.name) errors.push(fieldError.required(`${path}.name`, 'name or generateName is required'));
  else for (const text of checkName(meta.name)) errors.push(fieldError.invalid(`${path}.name`, meta.name, text));
  if (options.namespaced) {
    if (!meta.namespace) errors.push(fieldError.required(`${path}.namespace`));
    else {
      for (const text of checkDns1123Label(meta.namespace)) {
        errors.push(fieldError.invalid(`${path}.namespace`, meta.namespace, text));
      }
    }
  } else if (meta.namespace) {
    errors.push(fieldError.forbidden(`${path}.namespace`, 'not allowed on this type'));
  }
  errors.push(...validateNonNegative(meta.generation, `${path}.generation`));
  if (meta.labels) errors.push(...validateLabels(meta.labels, `${path}.labels`));
  if (meta.annotations) errors.push(...validateAnnotations(meta.annotations, `${path}.annotations`));
  if (meta.ownerReferences) errors.push(...validateOwnerReferences(meta.ownerReferences, `${path}.ownerReferences`));
  if (meta.finalizers) errors.push(...validateFinalizers(meta.finalizers, `${path}.finalizers`));
  return errors;
}

/** Validates updated metadata, after the server has filled in what clients may omit. */
export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const known = new Set(old.finalizers);
    const added = [...new Set(meta.finalizers)].filter((name) => !known.has(name)).sort();
    if (added.length > 0) {
      const list = `[]string{${added.map((name) => JSON.stringify(name)).join(', ')}}`;
      errors.push(
        fieldError.forbidden(
          `${path}.finalizers`,
          `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
        ),
      );
    }
  }
  if (!meta.resourceVersion) {
    errors.push(fieldError.invalid(`${path}.resourceVersion`, '', 'must be specified for an update'));
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(fieldError.invalid(`${path}.generation`, meta.generation ?? 0, 'must not be decremented'));
  }
  const fixed = [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ] as const;
  for (const field of fixed) {
    if ((meta[field] ?? '') !== (old[field] ?? '')) {
      errors.push(fieldError.invalid(`${path}.${field}`, meta[field] ?? emptyOf(field), immutableText));
    }
  }
  if (meta.labels) errors.push(...validateLabels(meta.labels, `${path}.labels`));
  if (meta.annotations) errors.push(...validateAnnotations(meta.annotations, `${path}.annotations`));
  if (meta.ownerReferences) errors.push(...validateOwnerReferences(meta.ownerReferences, `${path}.ownerReferences`));
  // Unchanged finalizers were accepted before. Upstream checks their names in its update strategy.
  if (meta.finalizers && !deepEqual(meta.finalizers, old.finalizers)) {
    errors.push(...validateFinalizers(meta.finalizers, `${path}.finalizers`));
  }
  return errors;
}

function emptyOf(field: string): string | null {
  return field === 'name' || field === 'namespace' || field === 'uid' ? '' : null;
}

export function validateOwnerReferences(references: readonly OwnerReference[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller = '';
  for (const reference of references) {
    const { apiVersion = '', kind = '', name = '', uid = '' } = reference;
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    if (version === '') errors.push(fieldError.invalid(`${path}.apiVersion`, apiVersion, 'version must not be empty'));
    if (kind === '') errors.push(fieldError.invalid(`${path}.kind`, kind, 'must not be empty'));
    if (name === '') errors.push(fieldError.invalid(`${path}.name`, name, 'must not be empty'));
    if (uid === '') errors.push(fieldError.invalid(`${path}.uid`, uid, 'must not be empty'));
    if (apiVersion === 'v1' && kind === 'Event') {
      errors.push(fieldError.invalid(path, reference, '/v1, Kind=Event is disallowed from being an owner'));
    }
    if (reference.controller === true) {
      const current = `${kind}/${name}`;
      if (controller === '') controller = current;
      else {
        errors.push(
          fieldError.invalid(
            path,
            references,
            `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`,
          ),
        );
      }
    }
  }
  return errors;
}

export function validateFinalizers(finalizers: readonly string[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const finalizer of finalizers) {
    for (const text of checkQualifiedName(finalizer)) errors.push(fieldError.invalid(path, finalizer, text));
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(fieldError.invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

/** Checks that a value did not change. `undefined` and an empty object or list are different values. */
export function validateImmutable(value: unknown, old: unknown, path: string): FieldError[] {
  return deepEqual(value, old) ? [] : [fieldError.invalid(path, value ?? null, immutableText)];
}
