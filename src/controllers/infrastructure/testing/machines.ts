import {
  infrastructureGroup,
  type Machine,
  Machines,
  type OpenStackClusterStatus,
  OpenStackClusters,
  type OpenStackMachine,
  type OpenStackMachineSpec,
  OpenStackMachines,
} from '../../../api/index.ts';
import { conditionOf, ownerReference } from '../../shared/index.ts';
import { createUserData, usualNetwork } from './servers.ts';
import { by, type InfrastructureWorld } from './world.ts';

export const usualMachine: OpenStackMachineSpec = {
  flavor: { filter: { name: 'm1.small' } },
  image: { filter: { name: 'ubuntu-capi-image' } },
  sshKeyName: 'demo',
};

/** Builds the status of a cluster on the network that every world has. */
export async function usualClusterStatus({ tenant }: InfrastructureWorld): Promise<OpenStackClusterStatus> {
  const network = (await tenant.network.networks.find(usualNetwork))!;
  const subnet = (await tenant.network.subnets.find(usualNetwork))!;
  return {
    initialization: { provisioned: true },
    network: {
      name: network.name,
      id: network.id,
      subnets: [{ name: subnet.name, id: subnet.id, cidr: subnet.cidr }],
    },
  };
}

/** Sets the status of an OpenStackCluster, in tests without its controller. */
export async function setClusterStatus(
  world: InfrastructureWorld,
  name: string,
  status: OpenStackClusterStatus,
): Promise<void> {
  const { client, namespace } = world;
  await client.patch(OpenStackClusters, { namespace, name }, 'merge', JSON.parse(JSON.stringify({ status })), {
    ...by,
    subresource: 'status',
  });
}

export interface MachineOptions {
  readonly clusterName?: string;
  readonly controlPlane?: boolean;
  readonly failureDomain?: string;
  readonly spec?: Partial<OpenStackMachineSpec>;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  /** leaves out the bootstrap data, as if not yet written */
  readonly withoutData?: boolean;
}

/** Creates a Machine and its OpenStackMachine as a set or control plane would. */
export async function createMachine(
  world: InfrastructureWorld,
  name: string,
  options: MachineOptions = {},
): Promise<{ machine: Machine; openStackMachine: OpenStackMachine }> {
  const { client, namespace } = world;
  const clusterName = options.clusterName ?? 'c1';
  const labels = {
    'cluster.x-k8s.io/cluster-name': clusterName,
    ...(options.controlPlane === true && { 'cluster.x-k8s.io/control-plane': '' }),
    ...options.labels,
  };
  if (options.withoutData !== true) await createUserData(world, `${name}-data`);
  const machine = await client.create(
    Machines,
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: { name, namespace, labels },
      spec: {
        clusterName,
        bootstrap: { dataSecretName: `${name}-data` },
        infrastructureRef: { apiGroup: infrastructureGroup, kind: 'OpenStackMachine', name },
        ...(options.failureDomain !== undefined && { failureDomain: options.failureDomain }),
      },
    },
    by,
  );
  const openStackMachine = await client.create(
    OpenStackMachines,
    {
      apiVersion: `${infrastructureGroup}/v1beta2`,
      kind: 'OpenStackMachine',
      metadata: {
        name,
        namespace,
        labels,
        ownerReferences: [ownerReference(machine, Machines)],
        ...(options.annotations && { annotations: options.annotations }),
      },
      spec: { ...usualMachine, ...options.spec },
    },
    by,
  );
  return { machine, openStackMachine };
}

/** Sets conditions of a Machine that depend on Node and control plane. */
export async function setMachineHealth(
  world: InfrastructureWorld,
  name: string,
  answers: 'True' | 'False' | 'Unknown',
): Promise<void> {
  const { client, namespace, clock } = world;
  const lastTransitionTime = new Date(clock.now()).toISOString().replace(/\.\d+Z/, 'Z');
  const conditions = [
    { type: 'APIServerPodHealthy', status: answers, reason: 'Test', message: '', lastTransitionTime },
  ];
  await client.patch(
    Machines,
    { namespace, name },
    'merge',
    { status: { nodeRef: { name }, conditions } },
    { ...by, subresource: 'status' },
  );
}

/** Sets the status of Machines as if their Nodes had joined. */
export async function joinNodes({ client, namespace }: InfrastructureWorld, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const status = { nodeRef: { name } };
    await client.patch(Machines, { namespace, name }, 'merge', { status }, { ...by, subresource: 'status' });
  }
}

export async function deleteMachine(world: InfrastructureWorld, name: string): Promise<void> {
  const { client, namespace } = world;
  await client.delete(OpenStackMachines, { namespace, name });
  await world.until(async () => (await world.find(OpenStackMachines, name)) === undefined);
  if (await world.find(Machines, name)) await client.delete(Machines, { namespace, name });
}

/** Formats a condition of an OpenStackMachine as `False InstanceNotReady: why`. */
export async function machineCondition(world: InfrastructureWorld, name: string, type: string): Promise<string> {
  const condition = conditionOf(await world.get(OpenStackMachines, name), type);
  return condition ? `${condition.status} ${condition.reason}: ${condition.message}` : '';
}

export const machineIsReady = async (world: InfrastructureWorld, name: string): Promise<boolean> =>
  (await machineCondition(world, name, 'Ready')).startsWith('True');
