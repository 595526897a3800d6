import { type Cluster, Clusters, type ContractReference, clusterNameLabel } from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import { asJson, isConflict, parseApiVersion } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  ContractError,
  endpointOf,
  explain,
  failureDomainsOf,
  fieldManager,
  isControlPlaneInitialized,
  isDeleting,
  isProvisioned,
  ownerReference,
  type ProviderObject,
  withOwner,
} from '../../shared/index.ts';
import type { ClusterScope, Referenced } from './scope.ts';

/**
 * Requeue interval while the kind is not installed. The creation of an object of an installed kind triggers a
 * reconcile.
 */
const missingRetryMs = 30_000;

/** Tracks the infrastructure until it is provisioned, and copies endpoint and failure domains. */
export async function reconcileInfrastructure(scope: ClusterScope): Promise<Result | undefined> {
  const { cluster, context } = scope;
  const reference = cluster.spec.infrastructureRef;
  if (!reference) {
    scope.infrastructure = { state: 'none' };
    // nothing to wait for, unless a topology is going to set the reference
    if (!isDeleting(cluster) && !cluster.spec.topology) latch(cluster, 'infrastructureProvisioned');
    return undefined;
  }
  scope.infrastructure = await lookUp(scope, reference);
  if (scope.infrastructure.state !== 'found') return waitUnlessDeleting(cluster, reference);
  const { provider } = scope.infrastructure;
  const known = cluster.status?.initialization?.infrastructureProvisioned === true;
  if (isDeleting(provider.object) || (!isProvisioned(provider) && !known)) return undefined;
  takeEndpoint(cluster, provider);
  const domains = failureDomainsOf(provider);
  cluster.status = { ...cluster.status };
  if (domains.length > 0) cluster.status.failureDomains = domains;
  else delete cluster.status.failureDomains;
  if (!known) {
    latch(cluster, 'infrastructureProvisioned');
    context.events.event(
      cluster,
      'Normal',
      'InfrastructureReady',
      `Cluster ${cluster.metadata.name} InfrastructureProvisioned is now True`,
    );
  }
  return undefined;
}

/** Tracks the control plane until it is initialized. */
export async function reconcileControlPlane(scope: ClusterScope): Promise<Result | undefined> {
  const { cluster, context } = scope;
  const reference = cluster.spec.controlPlaneRef;
  if (!reference) {
    scope.controlPlane = { state: 'none' };
    const joined = scope.descendants.controlPlaneMachines.some(({ status }) => status?.nodeRef !== undefined);
    if (joined) latch(cluster, 'controlPlaneInitialized');
    return undefined;
  }
  scope.controlPlane = await lookUp(scope, reference);
  if (scope.controlPlane.state !== 'found') return waitUnlessDeleting(cluster, reference);
  const { provider } = scope.controlPlane;
  if (isDeleting(provider.object)) return undefined;
  // a hosted control plane knows its endpoint before its API answers, and infrastructure may wait for the endpoint
  takeEndpoint(cluster, provider);
  const known = cluster.status?.initialization?.controlPlaneInitialized === true;
  if (known || !isControlPlaneInitialized(provider)) return undefined;
  latch(cluster, 'controlPlaneInitialized');
  context.events.event(
    cluster,
    'Normal',
    'ControlPlaneInitialized',
    `Cluster ${cluster.metadata.name} ControlPlaneInitialized is now True`,
  );
  return undefined;
}

function waitUnlessDeleting(cluster: Cluster, { kind }: ContractReference): Result | undefined {
  return isDeleting(cluster) ? undefined : after(missingRetryMs, `${kind} does not exist`);
}

/** Sets an initialization step to true; it never goes back to false. */
function latch(cluster: Cluster, step: 'infrastructureProvisioned' | 'controlPlaneInitialized'): void {
  if (cluster.status?.initialization?.[step] === true) return;
  cluster.status = { ...cluster.status, initialization: { ...cluster.status?.initialization, [step]: true } };
}

export function isEndpointValid(cluster: Cluster): boolean {
  const { host, port } = cluster.spec.controlPlaneEndpoint ?? {};
  return host !== undefined && host !== '' && port !== undefined && port > 0;
}

function takeEndpoint(cluster: Cluster, provider: ProviderObject): void {
  if (isEndpointValid(cluster)) return;
  const endpoint = endpointOf(provider);
  if (endpoint) cluster.spec.controlPlaneEndpoint = endpoint;
}

async function lookUp(scope: ClusterScope, reference: ContractReference): Promise<Referenced> {
  const { context, follower, cluster } = scope;
  try {
    const provider = await follower.get(reference, cluster.metadata.namespace ?? '', {
      client: context.client,
      signal: context.signal,
    });
    return provider ? { state: 'found', provider: await own(scope, provider) } : { state: 'missing' };
  } catch (error) {
    if (context.signal.aborted) throw error;
    // a kind that was uninstalled has no objects left
    if (isDeleting(cluster) && error instanceof ContractError && error.notInstalled) return { state: 'missing' };
    context.log.warn('Reference cannot be followed', { kind: reference.kind, reference: reference.name, error });
    return { state: 'failed', problem: explain(error) };
  }
}

/** Makes the cluster an owner of the referenced object; a controlling one only if a topology created the object. */
async function own({ context, cluster, follower }: ClusterScope, provider: ProviderObject): Promise<ProviderObject> {
  const { object } = provider;
  const wanted = ownerReference(cluster, Clusters, cluster.spec.topology ? { controller: true } : {});
  const owners = withOwner(object.metadata.ownerReferences, wanted);
  const labelled = object.metadata.labels?.[clusterNameLabel] === cluster.metadata.name;
  if ((labelled && owners === object.metadata.ownerReferences) || isDeleting(object)) return provider;
  const patch = {
    metadata: {
      labels: { [clusterNameLabel]: cluster.metadata.name ?? '' },
      ownerReferences: asJson(owners),
    },
  };
  const { group } = parseApiVersion(object.apiVersion);
  const { resource } = await follower.kindOf({ apiGroup: group, kind: object.kind }, context.signal);
  try {
    const stored = await context.client.patch(resource, objectKey(object), 'merge', withOptimisticLock(patch, object), {
      fieldManager,
      signal: context.signal,
    });
    return { ...provider, object: stored };
  } catch (error) {
    if (!isConflict(error)) throw error;
    // conflict: the other write triggers a reconcile
    return provider;
  }
}
