import {
  ApiStatusError,
  asJson,
  type Clock,
  clone,
  createJsonPatch,
  type FieldError,
  isJsonObject,
  parseApiVersion,
  type Random,
  type ResourceDefinition,
  type StrategyContext,
  statusError,
  type UnstructuredObject,
  validateCustomResource,
} from '../machinery/index.ts';
import type { AdmissionAnswer, AdmissionRequest } from './admission-review.ts';
import { hasLaterRules } from './portable-rules.ts';
import { converted, fittingCopy, hubVersion, type ReviewedKinds } from './reviewed-kinds.ts';
import { withReplicas } from './scale.ts';

export interface AdmissionOptions {
  kinds: ReviewedKinds;
  clock: Clock;
  random: Random;
  rules?: readonly Rule[];
  /** reads the scaled object in its hub version */
  readLive(definition: ResourceDefinition, key: { namespace: string; name: string }): Promise<UnstructuredObject>;
}

/** A write for rules that need other objects, in the hub version. */
export interface RuleRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  definition: ResourceDefinition;
  namespace: string | undefined;
  name: string;
  user: AdmissionRequest['user'];
  dryRun: boolean;
  /** `mutate` may change it; undefined for DELETE */
  object: UnstructuredObject | undefined;
  oldObject: UnstructuredObject | undefined;
  warn(text: string): void;
}

/**
 * A rule that depends on other objects, for example on whether they refer to this one. Refuses with an ApiStatusError.
 */
export interface Rule {
  concerns(definition: ResourceDefinition): boolean;
  operations: readonly RuleRequest['operation'][];
  mutate?(request: RuleRequest): Promise<void>;
  validate?(request: RuleRequest): Promise<void>;
}

/** Applies the defaults of the kind. On update, takes over fields of the old object that the update leaves out. */
export async function mutate(request: AdmissionRequest, options: AdmissionOptions): Promise<AdmissionAnswer> {
  const { object, oldObject, operation, subResource, resource } = request;
  const definition = options.kinds.ofResource(resource.group, resource.resource);
  if (!definition || !object || subResource !== '' || (operation !== 'CREATE' && operation !== 'UPDATE')) {
    return { allowed: true };
  }
  const { storageVersion, strategy } = definition;
  const fitting = fittingCopy(definition, object);
  // The API server refuses it next, with the error of its schema.
  if ('misfit' in fitting) return { allowed: true };
  const shown = parseApiVersion(object.apiVersion).version;
  const draft = clone(await converted(definition, fitting.draft, storageVersion));
  const old = oldObject && (await converted(definition, oldObject, storageVersion));
  const context = contextOf(request, options);
  const written = strategy.validateWritten && clone(draft);
  if (operation === 'CREATE') strategy.prepareForCreate?.(draft, context);
  else if (oldObject)
    strategy.prepareForUpdate?.(draft, await converted(definition, oldObject, storageVersion), context);
  strategy.applyDefaults?.(draft);
  const outcome = await applyRules('mutate', { definition, request, object: draft, old }, options);
  if (outcome.refusal) return { allowed: false, status: outcome.refusal.status };
  if (old && written) {
    const wrong = strategy.validateWritten?.(draft, old, { ...context, written }) ?? [];
    if (wrong.length > 0) return refused(definition, draft, wrong);
  }
  const answer = await converted(definition, draft, shown);
  return { allowed: true, patch: createJsonPatch(asJson(object), asJson(answer)), warnings: outcome.warnings };
}

interface RuledWrite {
  definition: ResourceDefinition;
  request: AdmissionRequest;
  object: UnstructuredObject | undefined;
  old: UnstructuredObject | undefined;
}

/** Applies the matching rules in order, up to the first refusal. */
async function applyRules(
  step: 'mutate' | 'validate',
  { definition, request, object, old }: RuledWrite,
  { rules = [] }: AdmissionOptions,
): Promise<{ warnings: string[]; refusal?: ApiStatusError }> {
  const warnings: string[] = [];
  const { operation, name, namespace, user, dryRun } = request;
  if (operation === 'CONNECT') return { warnings };
  const ruled: RuleRequest = {
    operation,
    definition,
    namespace: namespace === '' ? undefined : namespace,
    name,
    user,
    dryRun,
    object,
    oldObject: old,
    warn: (text) => void warnings.push(text),
  };
  for (const rule of rules) {
    if (!rule.operations.includes(operation) || !rule.concerns(definition)) continue;
    try {
      await rule[step]?.(ruled);
    } catch (error) {
      if (error instanceof ApiStatusError) return { warnings, refusal: error };
      throw error;
    }
  }
  return { warnings };
}

/** Applies validation rules that a schema cannot express. */
export async function validate(request: AdmissionRequest, options: AdmissionOptions): Promise<AdmissionAnswer> {
  const { resource, subResource } = request;
  const definition = options.kinds.ofResource(resource.group, resource.resource);
  if (!definition) return { allowed: true };
  if (subResource === 'scale') return await validateScale(definition, request, options);
  const { strategy, storageVersion } = definition;
  if (subResource === '' && request.operation === 'DELETE') {
    const old = request.oldObject && (await converted(definition, request.oldObject, storageVersion));
    const outcome = await applyRules('validate', { definition, request, object: undefined, old }, options);
    return outcome.refusal ? { allowed: false, status: outcome.refusal.status } : { allowed: true };
  }
  if (subResource !== '' || !request.object || (request.operation !== 'CREATE' && request.operation !== 'UPDATE')) {
    return { allowed: true };
  }
  const object = await converted(definition, request.object, storageVersion);
  const old = request.oldObject && (await converted(definition, request.oldObject, storageVersion));
  const errors = [...hubErrors(definition, request, object, old)];
  // Rules for a kind rely on valid types.
  if (errors.length === 0) errors.push(...ruleErrors(definition, object, old, contextOf(request, options)));
  if (errors.length > 0) return refused(definition, object, errors);
  const { warnings, refusal } = await applyRules('validate', { definition, request, object, old }, options);
  if (refusal) return { allowed: false, status: refusal.status, warnings };
  return { allowed: true, warnings: [...(strategy.warnings?.(object, old) ?? []), ...warnings] };
}

/**
 * Old versions have lenient schemas, but the converted object must be valid. This also checks rules that the published
 * schema cannot express on every API server.
 */
function hubErrors(
  definition: ResourceDefinition,
  { requestVersion }: AdmissionRequest,
  object: UnstructuredObject,
  old: UnstructuredObject | undefined,
): FieldError[] {
  if (requestVersion === definition.storageVersion && !hasLaterRules(definition)) return [];
  return validateCustomResource(asJson(object), hubVersion(definition).schema, old && asJson(old));
}

function ruleErrors(
  { strategy }: ResourceDefinition,
  object: UnstructuredObject,
  old: UnstructuredObject | undefined,
  context: StrategyContext,
): FieldError[] {
  if (old) return strategy.validateUpdate?.(object, old, context) ?? [];
  return strategy.validateCreate?.(object, context) ?? [];
}

/** A Scale has only the number of replicas. The rules apply to the object behind it. */
async function validateScale(
  definition: ResourceDefinition,
  request: AdmissionRequest,
  options: AdmissionOptions,
): Promise<AdmissionAnswer> {
  const { object, operation, namespace, name } = request;
  const { scale } = hubVersion(definition);
  const spec = object?.['spec'];
  const replicas = isJsonObject(spec) ? (spec['replicas'] ?? 0) : undefined;
  if (!scale || operation !== 'UPDATE' || typeof replicas !== 'number') return { allowed: true };
  let live: UnstructuredObject;
  try {
    live = await options.readLive(definition, { namespace, name });
  } catch (error) {
    if (error instanceof ApiStatusError) return { allowed: false, status: error.status };
    throw error;
  }
  const next = withReplicas(live, scale.specReplicasPath, replicas);
  const context = { ...contextOf(request, options), subresource: 'scale' };
  const errors = definition.strategy.validateUpdate?.(next, live, context) ?? [];
  return errors.length > 0 ? refused(definition, live, errors) : { allowed: true };
}

function refused(
  { group, kind }: ResourceDefinition,
  { metadata }: UnstructuredObject,
  errors: readonly FieldError[],
): AdmissionAnswer {
  return { allowed: false, status: statusError.invalid(group, kind, metadata.name ?? '', errors).status };
}

function contextOf(
  { user, dryRun, patchedBy }: AdmissionRequest,
  { clock, random }: AdmissionOptions,
): StrategyContext {
  return {
    nowMs: clock.now(),
    random,
    user: user.name,
    userUid: user.uid,
    groups: user.groups,
    dryRun,
    ...(patchedBy !== undefined && { patchedBy }),
  };
}
