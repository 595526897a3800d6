import { deepEqual, must, type ObjectMeta, statusError, type UnstructuredObject } from '../../machinery/index.ts';
import { parseCsr, signerNames } from '../../pki/index.ts';
import type { Store } from '../../store/index.ts';
import { type Authorizer, nodeOf } from '../auth/index.ts';
import { mirrorAnnotation, type PodSpec } from '../pods/pod-spec.ts';
import { objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { forbiddenLabels } from './node-labels.ts';
import { tokenObjection } from './node-tokens.ts';
import { apiReference } from './pod-api-references.ts';
import type { AdmissionRequest, AdmissionStep } from './types.ts';

export interface NodeRestrictionOptions {
  store: Store<StoredObject>;
  authorizer: Authorizer;
}

/** Returns why a node may not perform a request; undefined if it may. */
type Rule = (
  node: string,
  request: AdmissionRequest,
  options: NodeRestrictionOptions,
) => Objection | Promise<Objection>;
type Objection = string | undefined;

const nodeLeases = 'kube-node-lease';

const rules: Readonly<Record<string, Rule>> = {
  '/pods': podObjection,
  '/nodes': nodeObjection,
  '/persistentvolumeclaims': claimObjection,
  '/serviceaccounts': tokenRequestObjection,
  'coordination.k8s.io/leases': leaseObjection,
  'storage.k8s.io/csinodes': (node, { target }) =>
    target.name === node ? undefined : 'can only access CSINode with the same name as the requesting node',
  'certificates.k8s.io/certificatesigningrequests': certificateObjection,
};

/**
 * Restricts the writes that the node authorizer allows to the node of the kubelet and its pods (kube-apiserver:
 * NodeRestriction).
 */
export function nodeRestriction(options: NodeRestrictionOptions): AdmissionStep {
  return {
    name: 'NodeRestriction',
    concerns: ({ group, plural }) => Object.hasOwn(rules, `${group}/${plural}`),
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    appliesTo: ({ caller }) => nodeOf(caller.user) !== undefined,
    mutate(request) {
      const node = nodeOf(request.caller.user);
      if (!node) {
        throw refusal(request, `could not determine node from user ${JSON.stringify(request.caller.user.name)}`);
      }
      const { group, plural } = request.target.resource.definition;
      const objection = rules[`${group}/${plural}`]?.(node, request, options);
      if (objection instanceof Promise) return objection.then((text) => refuseFor(request, text));
      refuseFor(request, objection);
    },
  };
}

function refuseFor(request: AdmissionRequest, objection: Objection): void {
  if (objection !== undefined) throw refusal(request, objection);
}

function refusal({ target }: AdmissionRequest, text: string): Error {
  const { group, plural } = target.resource.definition;
  return statusError.forbidden({ group, resource: plural, name: target.name }, text);
}

const quote = (text: string): string => JSON.stringify(text);
const specOf = (pod: UnstructuredObject | undefined): PodSpec => (pod?.spec ?? {}) as PodSpec;

function podObjection(node: string, request: AdmissionRequest, options: NodeRestrictionOptions): Objection {
  const { subresource, operation, oldObject, object } = request;
  switch (subresource) {
    case undefined:
      if (operation === 'CREATE') return mirrorObjection(node, must(object, 'object'), options);
      if (operation === 'UPDATE') {
        return `unexpected operation ${quote(operation)}, node ${quote(node)} can only create and delete mirror pods`;
      }
      return specOf(oldObject).nodeName === node
        ? undefined
        : `node ${quote(node)} can only delete pods with spec.nodeName set to itself`;
    case 'status':
      return podStatusObjection(node, must(object, 'object'), must(oldObject, 'oldObject'));
    case 'eviction': {
      const pod = read(options, 'pods', request.target.namespace, request.target.name);
      return specOf(pod).nodeName === node
        ? undefined
        : `node ${node} can only evict pods with spec.nodeName set to itself`;
    }
    default:
      return `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`;
  }
}

/** Kubelets create mirror pods themselves, so these must not give access to anything else. */
function mirrorObjection(node: string, pod: UnstructuredObject, options: NodeRestrictionOptions): Objection {
  const who = `node ${quote(node)}`;
  if (pod.metadata.annotations?.[mirrorAnnotation] === undefined) {
    return `pod does not have ${quote(mirrorAnnotation)} annotation, ${who} can only create mirror pods`;
  }
  if (specOf(pod).nodeName !== node) return `${who} can only create pods with spec.nodeName set to itself`;
  const [owner, ...others] = pod.metadata.ownerReferences ?? [];
  if (others.length > 0) return `${who} can only create pods with a single owner reference set to itself`;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `${who} can only create pods with an owner reference set to itself`;
  }
  if (!owner.controller) return `${who} can only create pods with a controller owner reference set to itself`;
  if (owner.blockOwnerDeletion) return `${who} must not set blockOwnerDeletion on an owner reference`;
  const { uid } = read(options, 'nodes', undefined, node).metadata;
  if (owner.uid !== uid) return `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`;
  const reference = apiReference(specOf(pod));
  return reference === undefined ? undefined : `${who} can not create pods that reference ${reference}`;
}

interface PodStatus {
  resourceClaimStatuses?: unknown;
  extendedResourceClaimStatus?: unknown;
}

function podStatusObjection(node: string, pod: UnstructuredObject, old: UnstructuredObject): Objection {
  const who = `node ${quote(node)}`;
  if (specOf(old).nodeName !== node) {
    return `${who} can only update pod status for pods with spec.nodeName set to itself`;
  }
  if (!deepEqual(pod.metadata.labels ?? {}, old.metadata.labels ?? {})) {
    return `${who} cannot update labels through pod status`;
  }
  const next = (pod.status ?? {}) as PodStatus;
  const before = (old.status ?? {}) as PodStatus;
  if (!deepEqual(next.resourceClaimStatuses ?? [], before.resourceClaimStatuses ?? [])) {
    return `${who} cannot update resource claim statues`;
  }
  return deepEqual(next.extendedResourceClaimStatus, before.extendedResourceClaimStatus)
    ? undefined
    : `${who} cannot update extended resource claim status`;
}

interface NodeSpec {
  configSource?: unknown;
  taints?: unknown;
}

function nodeObjection(node: string, { target, operation, object, oldObject }: AdmissionRequest): Objection {
  const who = `node ${quote(node)}`;
  if (target.name !== node) return `${who} is not allowed to modify node ${quote(target.name)}`;
  if (operation === 'DELETE') return undefined;
  const spec = (must(object, 'object').spec ?? {}) as NodeSpec;
  const labels = forbiddenLabels(must(object, 'object').metadata.labels, oldObject?.metadata.labels);
  if (operation === 'CREATE') {
    if (spec.configSource) return `${who} is not allowed to create pods with a non-nil configSource`;
    return labels.length > 0 ? `${who} is not allowed to set the following labels: ${labels.join(', ')}` : undefined;
  }
  const before = (must(oldObject, 'oldObject').spec ?? {}) as NodeSpec;
  if (spec.configSource && !deepEqual(spec.configSource, before.configSource)) {
    return `${who} is not allowed to update configSource to a new non-nil configSource`;
  }
  if (!deepEqual(spec.taints ?? [], before.taints ?? [])) return `${who} is not allowed to modify taints`;
  if (
    !deepEqual(
      must(object, 'object').metadata.ownerReferences ?? [],
      must(oldObject, 'oldObject').metadata.ownerReferences ?? [],
    )
  ) {
    return `${who} is not allowed to modify ownerReferences`;
  }
  return labels.length > 0 ? `is not allowed to modify labels: ${labels.join(', ')}` : undefined;
}

/** Kubelets may only report the progress of a volume expansion. */
function claimObjection(node: string, { subresource, operation, object, oldObject }: AdmissionRequest): Objection {
  if (subresource !== 'status') return 'may only update PVC status';
  if (operation !== 'UPDATE') return `unexpected operation ${quote(operation)}`;
  return deepEqual(withoutGrowth(must(object, 'object')), withoutGrowth(must(oldObject, 'oldObject')))
    ? undefined
    : `node ${quote(node)} is not allowed to update fields other than status.quantity and status.conditions`;
}

function withoutGrowth(claim: UnstructuredObject): object {
  const { resourceVersion: _version, managedFields: _fields, ...metadata }: ObjectMeta = claim.metadata;
  const { capacity, conditions, allocatedResources, allocatedResourceStatuses, ...status } = (claim.status ??
    {}) as Record<string, unknown>;
  return { ...claim, metadata, status };
}

function leaseObjection(node: string, { target }: AdmissionRequest): Objection {
  if (target.namespace !== nodeLeases) return `can only access leases in the ${quote(nodeLeases)} system namespace`;
  return target.name === node ? undefined : 'can only access node lease with the same name as the requesting node';
}

function tokenRequestObjection(node: string, request: AdmissionRequest, options: NodeRestrictionOptions): Objection {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return undefined;
  const find = (plural: string, namespace: string | undefined, name: string): UnstructuredObject =>
    read(options, plural, namespace, name);
  return tokenObjection(node, request, options.authorizer, find);
}

async function certificateObjection(node: string, { operation, object }: AdmissionRequest): Promise<Objection> {
  if (operation !== 'CREATE') return undefined;
  const { signerName, request = '' } = (must(object, 'object').spec ?? {}) as { signerName?: string; request?: string };
  if (signerName !== signerNames.kubeletServing && signerName !== signerNames.apiServerClientKubelet) return undefined;
  const wanted = `system:node:${node}`;
  try {
    const { subject } = await parseCsr(Buffer.from(request, 'base64').toString('utf8'));
    return subject.commonName === wanted ? undefined : `can only create a node CSR with CN=${wanted}`;
  } catch (error) {
    return `unable to parse csr: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Reads an object that the rules depend on; throws a 404 if it is missing. */
function read(
  { store }: NodeRestrictionOptions,
  resource: string,
  namespace: string | undefined,
  name: string,
): UnstructuredObject {
  const [plural = '', ...group] = resource.split('.');
  const record = store.head(objectKey({ group: group.join('.'), plural }, namespace, name));
  if (!record) throw statusError.notFound({ group: group.join('.'), resource: plural, name });
  return record.value.object;
}
