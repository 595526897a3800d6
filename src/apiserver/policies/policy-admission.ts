import {
  type ApiStatusError,
  asJson,
  type JsonValue,
  must,
  statusError,
  type UnstructuredObject,
  type VersionDefinition,
} from '../../machinery/index.ts';
import { celAuthorizer } from '../admission/cel-authorizer.ts';
import { describeRequest } from '../admission/describe-request.ts';
import { matchRequest } from '../admission/matching.ts';
import type { AdmissionRequest, AdmissionStep } from '../admission/types.ts';
import type { Authorizer } from '../auth/index.ts';
import type { ServiceContext } from '../service/context.ts';
import { objectKey } from '../storage/keys.ts';
import { evaluatePolicy, type Violation } from './evaluate.ts';
import { ConfigurationError, collectParameters, findKind } from './parameters.ts';
import type { Binding, Policy } from './policy.ts';
import type { PolicyBook, PolicyInForce } from './policy-book.ts';

export interface PolicyAdmissionOptions {
  book: PolicyBook;
  context: ServiceContext;
  authorizer: Authorizer;
}

/** Exempt, so that a bad policy can always be repaired. */
const unrestricted = new Set(['validatingadmissionpolicies', 'validatingadmissionpolicybindings']);

/** Validates writes against the bound ValidatingAdmissionPolicies (kube-apiserver: ValidatingAdmissionPolicy). */
export function admissionPolicies(options: PolicyAdmissionOptions): AdmissionStep {
  const { book } = options;
  return {
    name: 'ValidatingAdmissionPolicy',
    concerns: ({ group, plural, verbs }) =>
      verbs.includes('get') && !(group === 'admissionregistration.k8s.io' && unrestricted.has(plural)),
    appliesTo: () => book.inForce.length > 0,
    validate(request) {
      const { store } = options.context;
      const matching = book.inForce.flatMap((inForce) => {
        const version = matchRequest(inForce.policy.match, request, store);
        return version ? [{ inForce, version }] : [];
      });
      return matching.length === 0 ? undefined : holdToAll(options, matching, request);
    },
  };
}

interface Refusal extends Violation {
  policy: string;
  binding: string | undefined;
}

async function holdToAll(
  options: PolicyAdmissionOptions,
  matching: readonly { inForce: PolicyInForce; version: VersionDefinition }[],
  request: AdmissionRequest,
): Promise<void> {
  const refusals: Refusal[] = [];
  for (const { inForce, version } of matching) {
    refusals.push(...(await holdTo(options, inForce, version, request)));
  }
  if (refusals.length > 0) throw refused(request, must(refusals[0], 'the first of refusals'));
}

async function holdTo(
  options: PolicyAdmissionOptions,
  { policy, bindings }: PolicyInForce,
  version: VersionDefinition,
  request: AdmissionRequest,
): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  /** The failure policy decides about errors of the policy itself. */
  const guarded = async (
    what: string,
    binding: Binding | undefined,
    work: () => void | Promise<void>,
  ): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      if (policy.failurePolicy === 'Fail') {
        const message = `failed to configure ${what}: ${error.message}`;
        refusals.push({ policy: policy.name, binding: binding?.name, message, reason: undefined });
      }
      return false;
    }
  };
  const { context } = options;
  const usable = await guarded('policy', undefined, () => {
    if (policy.paramKind) findKind(context, policy.paramKind);
  });
  if (!usable) return refusals;
  for (const binding of bindings) {
    if (!matchRequest(binding.match, request, context.store)) continue;
    await guarded('binding', binding, async () => {
      const parameters = await collectParameters(context, policy, binding.paramRef, request.target.namespace);
      const input = await inputOf(options, request, version);
      for (const params of parameters) {
        const violations = evaluatePolicy(policy, { ...input, params: params as JsonValue });
        refusals.push(...act(policy, binding, violations, request));
      }
    });
  }
  return refusals;
}

/** Runs the actions of a binding for violations; returns the violations that deny the request. */
function act(policy: Policy, binding: Binding, violations: readonly Violation[], request: AdmissionRequest): Refusal[] {
  if (binding.actions.includes('Warn')) {
    for (const { message } of violations) {
      request.caller.warn(
        `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
      );
    }
  }
  if (!binding.actions.includes('Deny')) return [];
  return violations.map((violation) => ({ ...violation, policy: policy.name, binding: binding.name }));
}

type Input = Omit<Parameters<typeof evaluatePolicy>[1], 'params'>;

async function inputOf(
  { context, authorizer }: PolicyAdmissionOptions,
  request: AdmissionRequest,
  version: VersionDefinition,
): Promise<Input> {
  const { resource, namespace } = request.target;
  const view = async (object: UnstructuredObject | undefined): Promise<JsonValue> => {
    if (object === undefined) return null;
    const shown = request.bodyKind ? object : await resource.convert(object, version.name);
    return asJson(shown);
  };
  const spaces = { group: '', plural: 'namespaces' };
  const stored = namespace === undefined ? undefined : context.store.get(objectKey(spaces, undefined, namespace));
  return {
    object: await view(request.object),
    oldObject: await view(request.oldObject),
    request: describeRequest(request, version.name),
    namespaceObject: stored ? namespaceView(stored.value.object) : null,
    authorizer: celAuthorizer(authorizer, request),
  };
}

/** Returns the part of a namespace that expressions can read. */
function namespaceView({ metadata, spec, status }: UnstructuredObject): JsonValue {
  const { managedFields: _managed, ownerReferences: _owners, uid: _uid, ...rest } = metadata;
  return { metadata: asJson(rest), spec: spec ?? {}, status: status ?? {} };
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, RequestEntityTooLarge: 413 };

function refused(
  { target }: AdmissionRequest,
  { policy, binding, message, reason = 'Invalid' }: Refusal,
): ApiStatusError {
  const { group, plural } = target.resource.definition;
  const by = binding === undefined ? '' : ` with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy '${policy}'${by} denied request: ${message}`;
  const error = statusError.forbidden({ group, resource: plural, name: target.name }, text, [{ message: text }]);
  error.status.reason = reason;
  error.status.code = codes[reason] ?? 422;
  return error;
}
