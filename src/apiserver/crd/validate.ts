import {
  checkDns1035Label,
  checkDns1123Subdomain,
  deepEqual,
  type FieldError,
  fieldError,
  immutableText,
  type JsonValue,
  validateObjectMeta,
  validateObjectMetaUpdate,
  validateVersionSchema,
} from '../../machinery/index.ts';
import { validateApproval } from './approval.ts';
import {
  type CrdNames,
  type CrdSpec,
  type CrdVersion,
  type CustomResourceDefinition,
  isCrdConditionTrue,
} from './types.ts';
import { validateConversion } from './validate-conversion.ts';
import {
  validateColumn,
  validateDeprecation,
  validateSelectableFields,
  validateSubresources,
} from './validate-version.ts';

/** Validates a defaulted CustomResourceDefinition; with `old`, validates the update. */
export function validateCrd(crd: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  const errors = old ? validateObjectMetaUpdate(crd.metadata, old.metadata) : validateMeta(crd);
  errors.push(...validateSpec(crd.spec));
  if (old) errors.push(...validateImmutable(crd, old));
  errors.push(...validateNames(crd.status?.acceptedNames, 'status.acceptedNames'));
  errors.push(...validateStoredVersions(crd));
  errors.push(...validateApproval(crd, old));
  if (crd.spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true) {
    const detail =
      'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    errors.push(fieldError.invalid('spec.preserveUnknownFields', true, detail));
  }
  return errors;
}

function validateMeta(crd: CustomResourceDefinition): FieldError[] {
  const wanted = `${crd.spec.names?.plural ?? ''}.${crd.spec.group ?? ''}`;
  return validateObjectMeta(crd.metadata, {
    namespaced: false,
    nameValidator: (name) => {
      const problems = checkDns1123Subdomain(name);
      return name === wanted ? problems : [...problems, 'must be spec.names.plural+"."+spec.group'];
    },
  });
}

function validateImmutable(crd: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = [];
  const keep = (field: string, value: string | undefined, before: string | undefined): void => {
    if (value !== before) errors.push(fieldError.invalid(field, value, immutableText));
  };
  // These fields determine where objects are stored. Before a definition is established no objects exist.
  if (isCrdConditionTrue(old, 'Established')) {
    keep('spec.scope', crd.spec.scope, old.spec.scope);
    keep('spec.names.kind', crd.spec.names.kind, old.spec.names.kind);
  }
  keep('spec.group', crd.spec.group, old.spec.group);
  keep('spec.names.plural', crd.spec.names.plural, old.spec.names.plural);
  return errors;
}

function validateSpec(spec: CrdSpec): FieldError[] {
  const errors: FieldError[] = [];
  validateGroup(spec.group, errors);
  if (!spec.scope) errors.push(fieldError.required('spec.scope'));
  else if (spec.scope !== 'Cluster' && spec.scope !== 'Namespaced') {
    errors.push(fieldError.notSupported('spec.scope', spec.scope, ['Cluster', 'Namespaced']));
  }
  const versions = spec.versions ?? [];
  versions.forEach((version, i) => {
    if (!version.schema?.openAPIV3Schema) {
      errors.push(fieldError.required(`spec.versions[${i}].schema.openAPIV3Schema`));
    }
  });
  validateVersions(spec, errors);
  validateRequiredNames(spec.names, errors);
  errors.push(...validateNames(spec.names, 'spec.names'));
  errors.push(...validateConversion(spec.conversion, 'spec.conversion'));
  return errors;
}

function validateGroup(group: string, errors: FieldError[]): void {
  if (!group) {
    errors.push(fieldError.required('spec.group'));
    return;
  }
  const problems = checkDns1123Subdomain(group);
  if (problems.length > 0) errors.push(fieldError.invalid('spec.group', group, problems.join(',')));
  else if (!group.includes('.')) {
    errors.push(fieldError.invalid('spec.group', group, 'should be a domain with at least one dot'));
  }
}

/** Fields that are equal in all versions are validated once, under their path in kube-apiserver's internal API. */
function validateVersions(spec: CrdSpec, errors: FieldError[]): void {
  const versions = spec.versions ?? [];
  const first = versions[0];
  const shared = (key: 'schema' | 'subresources' | 'additionalPrinterColumns' | 'selectableFields'): boolean =>
    first?.[key] !== undefined && versions.every((version) => deepEqual(version[key], first[key]));
  const sharedSchema = shared('schema');
  const sharedSubresources = shared('subresources');
  const sharedColumns = shared('additionalPrinterColumns');
  const sharedSelectable = shared('selectableFields');
  const hasAnyStatus = versions.some((version) => version.subresources?.status);

  versions.forEach((version, i) => {
    const path = `spec.versions[${i}]`;
    const problems = checkDns1035Label(version.name ?? '');
    if (problems.length > 0) {
      const detail = problems.join(',');
      errors.push(fieldError.invalid(`${path}.name`, version.name ?? '', detail));
      // The internal API also has the first version in a field of its own.
      if (i === 0 && version.name) errors.push(fieldError.invalid('spec.version', version.name, detail));
    }
    errors.push(...validateDeprecation(version.deprecated, version.deprecationWarning, path));
    const schema = version.schema?.openAPIV3Schema;
    if (schema && (!sharedSchema || i === 0)) {
      const hasStatus = sharedSchema ? hasAnyStatus : Boolean(version.subresources?.status);
      const schemaPath = `${sharedSchema ? 'spec.validation' : `${path}.schema`}.openAPIV3Schema`;
      errors.push(...validateVersionSchema(schema, hasStatus, schemaPath));
    }
    if (!sharedSubresources || i === 0) {
      const at = sharedSubresources ? 'spec' : path;
      errors.push(...validateSubresources(version.subresources, `${at}.subresources`));
    }
    if (!sharedColumns || i === 0) {
      const at = `${sharedColumns ? 'spec' : path}.additionalPrinterColumns`;
      for (const [j, column] of (version.additionalPrinterColumns ?? []).entries()) {
        errors.push(...validateColumn(column, `${at}[${j}]`));
      }
    }
    if (!sharedSelectable || i === 0) {
      const at = `${sharedSelectable ? 'spec' : path}.selectableFields`;
      errors.push(...validateSelectableFields(version.selectableFields, schema, at));
    }
  });

  const names = versions.map((version) => version.name);
  if (new Set(names).size < names.length) {
    errors.push(fieldError.invalid('spec.versions', shownVersions(versions), 'must contain unique version names'));
  }
  if (versions.filter((version) => version.storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.push(fieldError.invalid('spec.versions', shownVersions(versions), detail));
  }
}

/** kube-apiserver prints its internal form, which moves fields shared by all versions out of the versions. */
function shownVersions(versions: readonly CrdVersion[]): JsonValue {
  return versions.map((version) => ({
    Name: version.name,
    Served: version.served ?? false,
    Storage: version.storage ?? false,
    Deprecated: version.deprecated ?? false,
    DeprecationWarning: version.deprecationWarning ?? null,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  }));
}

function validateRequiredNames(names: CrdNames | undefined, errors: FieldError[]): void {
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names?.[name]) errors.push(fieldError.required(`spec.names.${name}`));
  }
}

function validateNames(names: CrdNames | undefined, path: string): FieldError[] {
  if (!names) return [];
  const errors: FieldError[] = [];
  const check = (field: string, value: string | undefined, lead = ''): void => {
    if (!value) return;
    const problems = checkDns1035Label(lead === '' ? value : value.toLowerCase());
    if (problems.length > 0) errors.push(fieldError.invalid(`${path}.${field}`, value, lead + problems.join(',')));
  };
  const mixedCase = 'may have mixed case, but should otherwise match: ';
  check('plural', names.plural);
  check('singular', names.singular);
  check('kind', names.kind, mixedCase);
  check('listKind', names.listKind, mixedCase);
  for (const [i, name] of (names.shortNames ?? []).entries()) check(`shortNames[${i}]`, name);
  if (names.kind && names.kind === names.listKind) {
    errors.push(fieldError.invalid(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'));
  }
  for (const [i, name] of (names.categories ?? []).entries()) check(`categories[${i}]`, name);
  return errors;
}

function validateStoredVersions(crd: CustomResourceDefinition): FieldError[] {
  const field = 'status.storedVersions';
  const stored = crd.status?.storedVersions ?? [];
  if (stored.length === 0) {
    return [fieldError.invalid(field, null, 'must have at least one stored version')];
  }
  const errors: FieldError[] = [];
  const versions = crd.spec.versions ?? [];
  for (const version of versions) {
    if (version.storage && !stored.includes(version.name)) {
      errors.push(fieldError.invalid(field, stored, `must have the storage version ${version.name}`));
    }
  }
  stored.forEach((name, i) => {
    if (versions.some((version) => version.name === name)) return;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(fieldError.invalid(`${field}[${i}]`, name, detail));
  });
  return errors;
}
