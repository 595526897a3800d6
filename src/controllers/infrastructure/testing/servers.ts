import { type OpenStackServer, type OpenStackServerSpec, OpenStackServers, Secrets } from '../../../api/index.ts';
import { collect } from '../../../openstack/index.ts';
import { conditionOf } from '../../shared/index.ts';
import { by, credentialsName, type InfrastructureWorld } from './world.ts';

/** A network that exists in the project of every world. */
export const usualNetwork = 'k8s-clusterapi-cluster-default-capo-test';

export const usualServer: OpenStackServerSpec = {
  identityRef: { name: credentialsName, cloudName: 'openstack' },
  flavor: 'm1.small',
  image: { filter: { name: 'ubuntu-capi-image' } },
  sshKeyName: 'demo',
  ports: [{ network: { filter: { name: usualNetwork } } }],
};

export function createServer(
  world: InfrastructureWorld,
  name: string,
  spec: Partial<OpenStackServerSpec> = {},
  metadata: Partial<OpenStackServer['metadata']> = {},
): Promise<OpenStackServer> {
  return world.client.create(
    OpenStackServers,
    {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
      kind: 'OpenStackServer',
      metadata: {
        name,
        namespace: world.namespace,
        labels: { 'cluster.x-k8s.io/cluster-name': 'c1' },
        ...metadata,
      },
      spec: { ...usualServer, ...spec },
    },
    by,
  );
}

export async function createUserData(
  world: InfrastructureWorld,
  name: string,
  text = '#cloud-config\n{}',
): Promise<void> {
  await world.client.create(
    Secrets,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: world.namespace },
      data: { value: Buffer.from(text).toString('base64') },
    },
    by,
  );
}

export const serverIsReady = async (world: InfrastructureWorld, name: string): Promise<boolean> =>
  (await world.get(OpenStackServers, name)).status?.ready === true;

export async function deleteServer(world: InfrastructureWorld, name: string): Promise<void> {
  await world.client.delete(OpenStackServers, { namespace: world.namespace, name });
  await world.until(async () => (await world.find(OpenStackServers, name)) === undefined);
}

/** Formats `InstanceReady` of a server as `False InstanceNotReady: why`. */
export async function instanceReady(world: InfrastructureWorld, name: string): Promise<string> {
  const server = await world.get(OpenStackServers, name);
  const condition = conditionOf(server as { status?: object }, 'InstanceReady');
  return condition ? `${condition.status} ${condition.reason}: ${condition.message}` : '';
}

/** Lists resources that a machine could have left behind: `server s1`, `port s1-0`, … */
export async function leftBehind({ tenant }: InfrastructureWorld): Promise<string[]> {
  const projectId = await tenant.projectId();
  const named = (kind: string, list: readonly { name: string }[]): string[] =>
    list.map(({ name }) => `${kind} ${name}`);
  const ports = await collect(tenant.network.ports.list({ projectId }));
  return [
    ...named('server', await collect(tenant.compute.servers.list())),
    ...named(
      'port',
      ports.filter(({ deviceOwner }) => !deviceOwner.startsWith('network:') && deviceOwner !== 'Octavia'),
    ),
    ...named('trunk', await collect(tenant.network.trunks.list({ projectId }))),
    ...named('volume', await collect(tenant.volume.volumes.list())),
    ...named('server group', await collect(tenant.compute.serverGroups.list())),
  ].sort();
}
