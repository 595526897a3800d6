import {
  ApiStatusError,
  applyJsonPatch,
  asJson,
  asTyped,
  deepEqual,
  errorMessage,
  isJsonObject,
  type JsonObject,
  must,
  parseJsonStrict,
  type Random,
  type Status,
  statusError,
  type UnstructuredObject,
  type VersionDefinition,
} from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { celAuthorizer } from '../admission/cel-authorizer.ts';
import { describeRequest } from '../admission/describe-request.ts';
import type { AdmissionRequest, AdmissionStep } from '../admission/index.ts';
import { matchRequest } from '../admission/matching.ts';
import type { Authorizer } from '../auth/index.ts';
import { decodeObject } from '../service/decode.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { Webhook, WebhookConfigurations, WebhookPhase } from './configuration.ts';
import { isProviderWebhook } from './provider-webhooks.ts';
import { NobodyListensError, type WebhookClient } from './webhook-client.ts';

export interface AdmissionWebhookOptions {
  configurations: WebhookConfigurations;
  client: WebhookClient;
  store: Store<StoredObject>;
  /** for match conditions that check permissions of the sender */
  authorizer: Authorizer;
  random: Random;
  /** called when a failed webhook is ignored by its failure policy */
  onIgnoredFailure(webhook: string, error: unknown): void;
}

/** Calls registered admission webhooks: mutating ones in sequence, validating ones in parallel. */
export function admissionWebhooks(options: AdmissionWebhookOptions): AdmissionStep {
  const { configurations } = options;
  return {
    name: 'AdmissionWebhooks',
    // Exempt, so that a broken webhook configuration can always be repaired.
    concerns: ({ group }) => group !== 'admissionregistration.k8s.io',
    appliesTo: () => configurations.list('mutating').length > 0 || configurations.list('validating').length > 0,
    mutate(request) {
      const matching = matchingWebhooks(options, 'mutating', request);
      return matching.length === 0 ? undefined : mutate(options, matching, request);
    },
    validate(request) {
      const matching = matchingWebhooks(options, 'validating', request);
      return matching.length === 0 ? undefined : validate(options, matching, request);
    },
  };
}

interface Match {
  webhook: Webhook;
  /** version that the webhook requires */
  version: VersionDefinition;
}

function matchingWebhooks(options: AdmissionWebhookOptions, phase: WebhookPhase, request: AdmissionRequest): Match[] {
  const matches: Match[] = [];
  for (const webhook of options.configurations.list(phase)) {
    // A webhook without rules matches nothing.
    const version = webhook.match.rules.length > 0 && matchRequest(webhook.match, request, options.store);
    if (version) matches.push({ webhook, version });
  }
  return matches;
}

async function mutate(
  options: AdmissionWebhookOptions,
  matches: readonly Match[],
  request: AdmissionRequest,
): Promise<void> {
  const changedAfter = new Map<Match, number>();
  let changes = 0;
  const run = async (match: Match): Promise<void> => {
    if (await callMutating(options, match, request)) changes++;
    changedAfter.set(match, changes);
  };
  for (const match of matches) await run(match);
  // Webhooks with a reinvocation policy run once more if later webhooks changed the object.
  const inFirstRound = changes;
  for (const match of matches) {
    if (match.webhook.reinvoke && must(changedAfter.get(match), 'changedAfter.get(match)') < inFirstRound)
      await run(match);
  }
}

async function validate(
  options: AdmissionWebhookOptions,
  matches: readonly Match[],
  request: AdmissionRequest,
): Promise<void> {
  const outcomes = await Promise.allSettled(matches.map((match) => call(options, match, request)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Returns true if the webhook changed the object. */
async function callMutating(
  options: AdmissionWebhookOptions,
  match: Match,
  request: AdmissionRequest,
): Promise<boolean> {
  const response = await call(options, match, request);
  const patch = response?.['patch'];
  if (typeof patch !== 'string' || patch === '' || !request.object) return false;
  const { target } = request;
  try {
    const operations: unknown = parseJsonStrict(
      Buffer.from(patch, 'base64').toString('utf8'),
      target.resource.largeIntegers,
    ).value;
    if (request.bodyKind) return changeBody(request.object, operations);
    const sent = await target.resource.convert(request.object, match.version.name);
    const patched = applyJsonPatch(asJson(sent), operations);
    const served = { resource: target.resource, version: match.version, apiVersion: sent.apiVersion };
    const decoded = decodeObject({ value: patched, duplicateFields: [] }, served, request.caller, 'Ignore');
    const next = await target.resource.convert(decoded, target.resource.storageVersion.name);
    const changed = !deepEqual(next, request.object);
    if (changed) replaceContent(request.object, next);
    return changed;
  } catch (error) {
    throw statusError.internal(
      `failed calling webhook "${match.webhook.name}": the patch it answered with cannot be applied: ${errorMessage(error)}`,
    );
  }
}

/** Subresource bodies have another kind than the resource, so they are patched without conversion. */
function changeBody(body: UnstructuredObject, operations: unknown): boolean {
  const patched = asTyped<UnstructuredObject>(applyJsonPatch(asJson(body), operations));
  const changed = !deepEqual(patched, body);
  if (changed) replaceContent(body, patched);
  return changed;
}

/** Replaces the content in place, because later steps use this very object. */
function replaceContent(object: UnstructuredObject, content: UnstructuredObject): void {
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, content);
}

/** Calls a webhook; returns undefined if it was skipped or its failure is ignored. */
async function call(
  options: AdmissionWebhookOptions,
  match: Match,
  request: AdmissionRequest,
): Promise<JsonObject | undefined> {
  const { webhook } = match;
  const review = await buildReview(options, match, request);
  const reviewRequest = review['request'] as JsonObject;
  if (!isWanted(options, webhook, request, reviewRequest)) return undefined;
  let response: JsonObject;
  try {
    if (request.dryRun && webhook.sideEffects !== 'None' && webhook.sideEffects !== 'NoneOnDryRun') {
      throw statusError.badRequest(`admission webhook "${webhook.name}" does not support dry run`);
    }
    const answer = await options.client.post(
      webhook.clientConfig,
      review,
      webhook.timeoutMs,
      `?timeout=${webhook.timeoutMs / 1000}s`,
    );
    response = readResponse(answer, String(reviewRequest['uid']));
  } catch (error) {
    if (error instanceof ApiStatusError) throw error;
    const { definition } = request.target.resource;
    if (error instanceof NobodyListensError && definition.crd && isProviderWebhook(webhook, definition)) {
      // Provider installations register webhooks of managers that Capstan replaces; their pods may never run.
      request.caller.warn(
        `admission webhook "${webhook.name}" was not called, because it does not run; Capstan checks this kind itself`,
      );
      return undefined;
    }
    if (webhook.failurePolicy === 'Ignore') {
      options.onIgnoredFailure(webhook.name, error);
      return undefined;
    }
    throw statusError.internal(
      `failed calling webhook "${webhook.name}": failed to call webhook: ${errorMessage(error)}`,
    );
  }
  for (const warning of Array.isArray(response['warnings']) ? response['warnings'] : [])
    request.caller.warn(String(warning));
  if (response['allowed'] !== true) throw denied(webhook.name, response);
  return response;
}

/** Returns false if match conditions exclude the request. The failure policy decides about failing conditions. */
function isWanted(
  { authorizer }: AdmissionWebhookOptions,
  webhook: Webhook,
  request: AdmissionRequest,
  reviewRequest: JsonObject,
): boolean {
  const outcome = webhook.matchConditions(reviewRequest, celAuthorizer(authorizer, request));
  if ('calls' in outcome) return outcome.calls;
  if (webhook.failurePolicy === 'Ignore') return false;
  const { target } = request;
  const { group, plural } = target.resource.definition;
  throw statusError.forbidden({ group, resource: plural, name: target.name }, outcome.error);
}

function readResponse(answer: JsonObject, uid: string): JsonObject {
  const { response } = answer;
  if (
    answer['kind'] !== 'AdmissionReview' ||
    answer['apiVersion'] !== 'admission.k8s.io/v1' ||
    !isJsonObject(response)
  ) {
    throw new Error('expected response.kind=AdmissionReview of admission.k8s.io/v1');
  }
  if (response['uid'] !== uid) throw new Error(`expected response.uid="${uid}"`);
  return response;
}

async function buildReview(
  options: AdmissionWebhookOptions,
  { version }: Match,
  request: AdmissionRequest,
): Promise<JsonObject> {
  const { resource } = request.target;
  const view = async (object: UnstructuredObject | undefined): Promise<JsonObject | null> => {
    if (object === undefined) return null;
    // The body of a subresource has a single version, independent of the resource version.
    const shown = request.bodyKind ? object : await resource.convert(object, version.name);
    return asJson(shown);
  };
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: options.random.uuid(),
      ...describeRequest(request, version.name),
      object: await view(request.object),
      oldObject: await view(request.oldObject),
    },
  };
}

/** Builds the refusal with the webhook's message. */
function denied(name: string, response: JsonObject): ApiStatusError {
  const status = isJsonObject(response['status']) ? response['status'] : {};
  const detail = status['message'] ?? status['reason'];
  const prefix = `admission webhook "${name}" denied the request`;
  const message =
    typeof detail === 'string' && detail !== '' ? `${prefix}: ${detail}` : `${prefix} without explanation`;
  const code =
    typeof status['code'] === 'number' && status['code'] >= 400 && status['code'] < 600 ? status['code'] : 400;
  return new ApiStatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(typeof status['reason'] === 'string' && { reason: status['reason'] }),
    ...(isJsonObject(status['details']) && { details: status['details'] as Status['details'] & object }),
    code,
  });
}
