import { clusterNameLabel, type Machine, Machines } from '../../../api/index.ts';
import { ignoreNotFound, type KubeObject, type Resource, type UnstructuredObject } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { at, controlPlaneLabel, isDeleting, ownerOf, textAt } from '../../shared/index.ts';

/** What a configuration is for: one machine, or a pool whose machines all boot with the same user data. */
export interface ConfigOwner {
  kind: 'Machine' | 'MachinePool';
  name: string;
  clusterName: string;
  kubernetesVersion: string | undefined;
  isControlPlane: boolean;
  /** what the owner boots with, once it knows */
  dataSecretName: string | undefined;
  /** its nodes (one of them, for a pool) have joined */
  hasNodes: boolean;
  deleting: boolean;
}

/** Pools are no kind of ours yet; whoever serves them is read without a cache. */
export const MachinePools: Resource<UnstructuredObject> = {
  group: Machines.group,
  version: 'v1beta2',
  kind: 'MachinePool',
  plural: 'machinepools',
  namespaced: true,
};

/** Whom a configuration is for; undefined as long as nobody has claimed it. */
export async function configOwnerOf(
  { cache, client, signal }: ReconcileContext,
  config: KubeObject,
): Promise<ConfigOwner | undefined> {
  const namespace = config.metadata.namespace ?? '';
  const machine = ownerOf(config, Machines);
  if (machine) {
    const found = cache.lister(Machines).get({ namespace, name: machine.name });
    return found && found.metadata.uid === machine.uid ? machineOwner(found) : undefined;
  }
  const pool = ownerOf(config, MachinePools);
  if (!pool) return undefined;
  const found = await client.get(MachinePools, { namespace, name: pool.name }, { signal }).catch(ignoreNotFound);
  return found && poolOwner(found);
}

function machineOwner(machine: Machine): ConfigOwner {
  return {
    kind: 'Machine',
    name: machine.metadata.name ?? '',
    clusterName: machine.spec.clusterName,
    kubernetesVersion: machine.spec.version,
    isControlPlane: machine.metadata.labels?.[controlPlaneLabel] !== undefined,
    dataSecretName: machine.spec.bootstrap.dataSecretName,
    hasNodes: machine.status?.nodeRef !== undefined,
    deleting: isDeleting(machine),
  };
}

function poolOwner(pool: UnstructuredObject): ConfigOwner {
  const nodes = at(pool, 'status', 'nodeRefs');
  return {
    kind: 'MachinePool',
    name: pool.metadata.name ?? '',
    clusterName: textAt(pool, 'spec', 'clusterName') ?? pool.metadata.labels?.[clusterNameLabel] ?? '',
    kubernetesVersion: textAt(pool, 'spec', 'template', 'spec', 'version'),
    isControlPlane: false,
    dataSecretName: textAt(pool, 'spec', 'template', 'spec', 'bootstrap', 'dataSecretName'),
    hasNodes: Array.isArray(nodes) && nodes.length > 0,
    deleting: isDeleting(pool),
  };
}
