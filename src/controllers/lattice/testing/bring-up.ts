import { ClusterResourceSets, Clusters, KubeadmControlPlanes, MachineDeployments } from '../../../api/index.ts';
import type { JsonObject, KubeObject, Resource } from '../../../machinery/index.ts';
import { by, type LatticeWorld } from './world.ts';

const condition = (type: string): JsonObject => ({
  type,
  status: 'True',
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

const counts = (replicas: number): JsonObject => ({
  replicas,
  readyReplicas: replicas,
  availableReplicas: replicas,
  upToDateReplicas: replicas,
});

/** Sets the status of all objects of a cluster as their controllers would when it is ready. */
export async function bringUp(world: LatticeWorld, name: string, version = 'v1.32.0'): Promise<void> {
  const namespace = `capi-${name}`;
  const setStatus = async <T extends KubeObject>(
    resource: Resource<T>,
    object: string,
    status: JsonObject,
  ): Promise<void> => {
    const key = { namespace, name: object };
    const { generation = 1 } = (await world.client.get(resource, key)).metadata;
    const patched = { status: { observedGeneration: generation, ...status } };
    await world.client.patch(resource, key, 'merge', patched, { ...by, subresource: 'status' });
  };
  const plane = `${name}-control-plane`;
  const { spec } = await world.client.get(KubeadmControlPlanes, { namespace, name: plane });
  await setStatus(KubeadmControlPlanes, plane, counts(spec.replicas ?? 0));
  for (const pool of await world.list(MachineDeployments, namespace)) {
    await setStatus(MachineDeployments, pool.metadata.name ?? '', counts(pool.spec.replicas ?? 0));
  }
  await setStatus(Clusters, name, {
    initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true },
    conditions: [condition('InfrastructureReady'), condition('ControlPlaneAvailable')],
    controlPlane: { versions: [{ version, replicas: 3 }] },
  });
  await setStatus(ClusterResourceSets, `${name}-add-ons`, { conditions: [condition('ResourcesApplied')] });
}
