import {
  appendErrors,
  asJson,
  checkDns1123Subdomain,
  type FieldError,
  type StrategyContext,
  statusError,
  type UnstructuredObject,
  validateCustomResource,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../../machinery/index.ts';
import type { NamedTarget } from './types.ts';

interface ValidationInput {
  target: NamedTarget;
  /** in the storage version */
  object: UnstructuredObject;
  old: UnstructuredObject | undefined;
  subresource: string | undefined;
  strategyContext: StrategyContext;
}

/** Validates an object and throws all errors as one 422. Synchronous unless a webhook converts. */
export function validateObject(input: ValidationInput): void | Promise<void> {
  const { target, object, old } = input;
  if (!target.resource.isCustom) return finishValidation(input, []);
  const { resource, version } = target;
  const inVersion = resource.convert(object, version.name);
  const oldInVersion = old && resource.convert(old, version.name);
  if (inVersion instanceof Promise || oldInVersion instanceof Promise) {
    return Promise.all([inVersion, oldInVersion]).then(([next, previous]) =>
      finishValidation(input, validateCustom(input, next, previous)),
    );
  }
  finishValidation(input, validateCustom(input, inVersion, oldInVersion));
}

function finishValidation(input: ValidationInput, schemaErrors: readonly FieldError[]): void {
  const { target, object, old, subresource, strategyContext } = input;
  const { definition } = target.resource;
  const { strategy } = definition;
  const errors: FieldError[] = validateObjectMeta(object.metadata, {
    namespaced: definition.namespaced,
    nameValidator: strategy.validateName ?? checkDns1123Subdomain,
  });
  if (old) errors.push(...validateObjectMetaUpdate(object.metadata, old.metadata));
  appendErrors(errors, schemaErrors);
  // Upstream's webhooks never see objects that the schema refuses, so our strategies may rely on the types.
  if (schemaErrors.length > 0) throw invalid(target, object, errors);
  if (!old) appendErrors(errors, strategy.validateCreate?.(object, strategyContext) ?? []);
  else if (subresource === 'status' || subresource === 'approval')
    appendErrors(errors, strategy.validateStatusUpdate?.(object, old, strategyContext) ?? []);
  else if (subresource === undefined || subresource === 'scale') {
    appendErrors(errors, strategy.validateUpdate?.(object, old, strategyContext) ?? []);
  }
  if (errors.length > 0) throw invalid(target, object, errors);
}

function invalid(target: NamedTarget, object: UnstructuredObject, errors: readonly FieldError[]): Error {
  const { definition } = target.resource;
  return statusError.invalid(definition.group, definition.kind, object.metadata.name ?? '', errors);
}

/**
 * Converts a client object to the storage version. As upstream, validates first: if conversion fails for an invalid
 * object, the schema errors are returned instead of an internal error.
 */
export function toStorageVersion(
  target: NamedTarget,
  draft: UnstructuredObject,
): UnstructuredObject | Promise<UnstructuredObject> {
  const { resource, version } = target;
  const converted = resource.convert(draft, resource.storageVersion.name);
  if (!(converted instanceof Promise)) return converted;
  return converted.catch((error: unknown) => {
    const errors = validateCustomResource(asJson(draft), version.schema);
    throw errors.length > 0 ? invalid(target, draft, errors) : error;
  });
}

/** Like upstream, validates custom kinds by the schema and rules of the client's version. */
function validateCustom(
  { target, object, old }: ValidationInput,
  inVersion: UnstructuredObject,
  oldInVersion: UnstructuredObject | undefined,
): FieldError[] {
  const { resource, version } = target;
  const errors = validateCustomResource(asJson(inVersion), version.schema, oldInVersion && asJson(oldInVersion));
  if (errors.length > 0 || !resource.definition.crd || version === resource.storageVersion) return errors;
  // Old versions of our own kinds have lenient schemas, so the converted object is validated, too.
  return validateCustomResource(asJson(object), resource.storageVersion.schema, old && asJson(old));
}
