import { type Cluster, Clusters, type K0smotronCluster, Namespaces } from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import { isConflict, type JsonObject } from '../../../machinery/index.ts';
import { fieldManager, isNotConnected, isTrue, managedByAnnotation } from '../../shared/index.ts';
import { clusterIdAnnotation } from './names.ts';
import type { ControlPlaneScope } from './scope.ts';

const ingressPort = 443;

/**
 * Writes facts about its plane to a Cluster: the k0s cluster id, and the endpoint if no infrastructure provides it.
 * Marks infrastructure that leaves this to k0smotron as ready.
 */
export async function reportCluster(
  scope: ControlPlaneScope,
  cluster: Cluster,
  plane: K0smotronCluster,
): Promise<void> {
  const patch: JsonObject = {};
  const id = await clusterId(scope, cluster, plane);
  if (id !== undefined) patch['metadata'] = { annotations: { [clusterIdAnnotation]: id } };
  const endpoint =
    cluster.spec.infrastructureRef || cluster.spec.controlPlaneEndpoint?.host ? undefined : endpointOf(plane);
  if (endpoint) patch['spec'] = { controlPlaneEndpoint: endpoint };
  if (Object.keys(patch).length > 0) {
    const { client, signal } = scope.context;
    try {
      await client.patch(Clusters, objectKey(cluster), 'merge', withOptimisticLock(patch, cluster), {
        fieldManager,
        signal,
      });
    } catch (error) {
      // conflict: the other write triggers a reconcile
      if (!isConflict(error)) throw error;
    }
  }
  await reportInfrastructure(scope, cluster);
}

async function clusterId(
  { context, dependencies }: ControlPlaneScope,
  cluster: Cluster,
  plane: K0smotronCluster,
): Promise<string | undefined> {
  if (cluster.metadata.annotations?.[clusterIdAnnotation] !== undefined) return undefined;
  if (!isTrue(plane, 'ControlPlaneFunctional')) return undefined;
  try {
    const client = dependencies.workloads.client(objectKey(cluster));
    const { metadata } = await client.get(Namespaces, { name: 'kube-system' }, { signal: context.signal });
    return `kube-system:${metadata.uid}`;
  } catch (error) {
    if (!isNotConnected(error)) throw error;
    return undefined;
  }
}

function endpointOf({ spec, status }: K0smotronCluster): { host: string; port: number } | undefined {
  if (spec.ingress) return { host: spec.ingress.apiHost, port: spec.ingress.port ?? ingressPort };
  const { host, port } = status?.controlPlaneEndpoint ?? {};
  return host && port ? { host, port } : undefined;
}

async function reportInfrastructure({ context, follower }: ControlPlaneScope, cluster: Cluster): Promise<void> {
  const reference = cluster.spec.infrastructureRef;
  if (!reference || !cluster.spec.controlPlaneEndpoint?.host) return;
  const { client, signal } = context;
  const found = await follower.get(reference, cluster.metadata.namespace ?? '', { client, signal });
  if (found?.object.metadata.annotations?.[managedByAnnotation] !== 'k0smotron') return;
  if (cluster.status?.initialization?.infrastructureProvisioned === true) return;
  const { resource } = await follower.kindOf(reference, signal);
  const status: JsonObject = found.contract === 'v1beta1' ? { ready: true } : { initialization: { provisioned: true } };
  await client.patch(
    resource,
    objectKey(found.object),
    'merge',
    { status },
    { fieldManager, subresource: 'status', signal },
  );
}
