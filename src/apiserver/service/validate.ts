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

/** Everything that can be wrong with an object, as one 422, or nothing. Answers at once unless a webhook converts. */
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
  // What the schema refuses, upstream's webhooks never see: our rules for a kind may rely on its types.
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
 * Converts what a client sent to the storage version. Upstream validates before it converts: a webhook that cannot read
 * an object is no internal error when the schema can say what is wrong with the object.
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

/** Custom kinds are held to the schema and rules of the version the client speaks, as upstream does. */
function validateCustom(
  { target, object, old }: ValidationInput,
  inVersion: UnstructuredObject,
  oldInVersion: UnstructuredObject | undefined,
): FieldError[] {
  const { resource, version } = target;
  const errors = validateCustomResource(asJson(inVersion), version.schema, oldInVersion && asJson(oldInVersion));
  if (errors.length > 0 || !resource.definition.crd || version === resource.storageVersion) return errors;
  // Old versions of our own kinds are read leniently; what they become must still be sound.
  return validateCustomResource(asJson(object), resource.storageVersion.schema, old && asJson(old));
}
