import { clusterNameLabel, type Machine, Machines } from '../../../api/index.ts';
import { ignoreNotFound, type KubeObject, type Resource, type UnstructuredObject } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { at, controlPlaneLabel, isDeleting, ownerOf, textAt } from '../../shared/index.ts';

/** The owner of a configuration: a Machine, or a MachinePool whose machines share the user data. */
export interface ConfigOwner {
  kind: 'Machine' | 'MachinePool';
  name: string;
  clusterName: string;
  kubernetesVersion: string | undefined;
  isControlPlane: boolean;
  /** name of the data Secret the owner boots with, once set */
  dataSecretName: string | undefined;
  /** the Node (for a pool, at least one) has joined */
  hasNodes: boolean;
  deleting: boolean;
}

/** MachinePools have no typed resource and no cache here; they are read from the API. */
export const MachinePools: Resource<UnstructuredObject> = {
  group: Machines.group,
  version: 'v1beta2',
  kind: 'MachinePool',
  plural: 'machinepools',
  namespaced: true,
};

/** Finds the owner of a configuration; undefined until one is set. */
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
