import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { type Foreign, makeForeign } from './foreign.ts';
import { type Inventory, takeInventory } from './inventory.ts';
import { floatingIpCluster, userData } from './manifests.ts';
import {
  activeServers,
  allReady,
  conditionOf,
  missingForRealCloud,
  openStage,
  type Stage,
  type Thing,
  tell,
} from './stage.ts';

const missing = await missingForRealCloud();
const cluster = 'vm-cluster';
const ofCluster = `cluster.x-k8s.io/cluster-name=${cluster}`;
const isControlPlane = ({ metadata }: Thing): boolean => metadata.name.startsWith(`${cluster}-control-plane-`);

describe.skipIf(missing !== undefined)(
  `a cluster behind a floating IP on a real cloud${missing ? ` (${missing})` : ''}`,
  { timeout: 300_000 },
  () => {
    let stage: Stage;
    let foreign: Foreign;
    let before: { inventory: Inventory; foreign: Record<string, unknown> };
    let servers: Thing[];
    const json = <T = Record<string, unknown>>(...args: string[]): Promise<T> => stage.openstack.json<T>(...args);
    const openStackCluster = (): Promise<Thing> => stage.get('openstackcluster', cluster);
    const nameInCloud = (): string => `k8s-clusterapi-cluster-${stage.namespace}-${cluster}`;

    beforeAll(async () => {
      stage = await openStage();
      foreign = await makeForeign(stage.openstack, stage.namespace, cluster);
      before = { inventory: await takeInventory(stage.openstack), foreign: await foreign.look() };
    });
    afterAll(() => stage?.close());

    it('runs all its servers after it is applied', async () => {
      const started = performance.now();
      await stage.apply([userData(), ...(await floatingIpCluster(foreign.keyName))]);
      servers = await activeServers(stage, ofCluster, 3);
      tell(`3 servers run ${Math.round((performance.now() - started) / 1000)} s after kubectl apply`);
      expect(servers.filter(isControlPlane)).toHaveLength(1);
      await stage.kubectl('wait', '--for=condition=Ready', `openstackcluster/${cluster}`, '--timeout=60s');
      await allReady(stage, 'openstackmachines', ofCluster);
    });

    it('waits for a node that cannot come up and says so', async () => {
      await eventually(async () => {
        const { status } = await stage.get('kcp', `${cluster}-control-plane`);
        const available = conditionOf(status, 'Available');
        expect(available).toMatchObject({ status: 'False' });
        expect(available?.message).not.toBe('');
        expect(status.initialization?.controlPlaneInitialized ?? false).toBe(false);
      });
      const { status } = await stage.get('kcp', `${cluster}-control-plane`);
      tell(`as expected here, KubeadmControlPlane: ${conditionOf(status, 'Available')?.message.replaceAll('\n', ' ')}`);
    });

    it('has a network, a subnet and a router to the outside', async () => {
      const { status, metadata } = await openStackCluster();
      const description = `Created by cluster-api-provider-openstack cluster ${stage.namespace}-${cluster} [owner ${metadata.uid}]`;
      expect(await json('network', 'show', status.network.id)).toMatchObject({
        name: nameInCloud(),
        description,
        tags: ['conformance'],
        subnets: [status.network.subnets[0].id],
        status: 'ACTIVE',
      });
      expect(await json('subnet', 'show', status.network.subnets[0].id)).toMatchObject({
        name: nameInCloud(),
        cidr: '10.6.0.0/24',
        dns_nameservers: ['9.9.9.9'],
        enable_dhcp: true,
        gateway_ip: '10.6.0.1',
        tags: ['conformance'],
      });
      const router = await json<Record<string, unknown>>('router', 'show', status.router.id);
      expect(router).toMatchObject({
        name: nameInCloud(),
        description,
        tags: ['conformance'],
        external_gateway_info: {
          network_id: (await json('network', 'show', 'public'))['id'],
          external_fixed_ips: [{ ip_address: status.router.ips[0] }],
        },
        interfaces_info: [{ subnet_id: status.network.subnets[0].id, ip_address: '10.6.0.1' }],
      });
    });

    it('has security groups with exactly the rules it needs', async () => {
      const { status } = await openStackCluster();
      const { controlPlaneSecurityGroup: controlPlane, workerSecurityGroup: worker } = status;
      const rules = async (id: string): Promise<string[]> =>
        (await json<Record<string, unknown>[]>('security', 'group', 'rule', 'list', id))
          .map((row) =>
            [
              row['Direction'],
              row['Ethertype'],
              row['IP Protocol'] ?? 'any',
              row['Port Range'] || '-',
              row['Remote Security Group'] ?? row['IP Range'] ?? '-',
            ].join(' '),
          )
          .sort();
      expect(controlPlane.name).toBe(`k8s-cluster-${stage.namespace}-${cluster}-secgroup-controlplane`);
      expect(await rules(controlPlane.id)).toEqual(
        [
          'egress IPv4 any - 0.0.0.0/0',
          'egress IPv6 any - ::/0',
          'ingress IPv4 tcp 6443:6443 0.0.0.0/0',
          `ingress IPv4 any - ${controlPlane.id}`,
          `ingress IPv4 any - ${worker.id}`,
        ].sort(),
      );
      expect(worker.name).toBe(`k8s-cluster-${stage.namespace}-${cluster}-secgroup-worker`);
      expect(await rules(worker.id)).toEqual(
        [
          'egress IPv4 any - 0.0.0.0/0',
          'egress IPv6 any - ::/0',
          ...['tcp', 'udp'].flatMap((protocol) =>
            ['10.6.0.0/24', controlPlane.id, worker.id].map((from) => `ingress IPv4 ${protocol} 30000:32767 ${from}`),
          ),
          `ingress IPv4 any - ${controlPlane.id}`,
          `ingress IPv4 any - ${worker.id}`,
        ].sort(),
      );
    });

    it('has servers as they were specified', async () => {
      for (const server of servers) {
        const shown = await json<Record<string, unknown>>('server', 'show', server.status.instanceID);
        expect(shown).toMatchObject({
          name: server.metadata.name,
          status: 'ACTIVE',
          key_name: foreign.keyName,
          flavor: expect.stringContaining(isControlPlane(server) ? 'm1.medium' : 'm1.small'),
          image: expect.stringContaining('ubuntu-capi-image-v1.33.6'),
          properties: {
            'capstan-owner': server.metadata.uid,
            ...(isControlPlane(server) ? {} : { purpose: 'conformance' }),
          },
          config_drive: isControlPlane(server) ? '' : 'True',
          tags: isControlPlane(server) ? ['conformance'] : ['conformance', 'worker'],
        });
      }
    });

    it('has one port for each server, in its security group', async () => {
      const { status } = await openStackCluster();
      for (const server of servers) {
        const ports = await json<{ ID: string }[]>('port', 'list', '--server', server.status.instanceID);
        expect(ports.map(({ ID }) => ID)).toEqual(server.status.resources.ports.map(({ id }: { id: string }) => id));
        const group = isControlPlane(server) ? status.controlPlaneSecurityGroup : status.workerSecurityGroup;
        expect(await json('port', 'show', ports[0]!.ID)).toMatchObject({
          name: `${server.metadata.name}-0`,
          network_id: status.network.id,
          security_group_ids: [group.id],
          description: `Created by cluster-api-provider-openstack cluster ${cluster} [owner ${server.metadata.uid}]`,
          fixed_ips: [{ ip_address: server.status.addresses[0].address }],
          status: 'ACTIVE',
        });
      }
    });

    it('is reached at a floating IP that leads to its control plane machine', async () => {
      const { spec, metadata } = await openStackCluster();
      const controlPlane = servers.find(isControlPlane)!;
      const shown = await json('floating', 'ip', 'show', spec.controlPlaneEndpoint.host);
      expect(shown).toMatchObject({
        id: metadata.annotations?.['infrastructure.cluster.x-k8s.io/api-floating-ip-id'],
        description: `Created by cluster-api-provider-openstack cluster ${stage.namespace}-${cluster} [owner ${metadata.uid} api]`,
        tags: ['conformance'],
        port_id: controlPlane.status.resources.ports[0].id,
      });
      expect(spec.controlPlaneEndpoint.port).toBe(6443);
    });

    it('stays unchanged when the management API restarts, and scales afterwards', async () => {
      const { status, metadata } = await openStackCluster();
      const look = async (): Promise<unknown> => ({
        network: await json('network', 'show', status.network.id),
        router: await json('router', 'show', status.router.id),
        groups: [
          await json('security', 'group', 'show', status.controlPlaneSecurityGroup.id),
          await json('security', 'group', 'show', status.workerSecurityGroup.id),
        ],
      });
      const seen = await look();
      await stage.restart();
      await stage.kubectl('scale', 'machinedeployment', `${cluster}-md-0`, '--replicas=3');
      servers = await activeServers(stage, ofCluster, 4);
      expect(await look()).toEqual(seen);
      expect((await openStackCluster()).metadata.resourceVersion).toBe(metadata.resourceVersion);
    });

    it('deletes all resources of a deleted machine and gets another one', async () => {
      const victim = servers.find((server) => !isControlPlane(server))!;
      await stage.kubectl('delete', 'machine', victim.metadata.name, '--timeout=120s');
      const gone = await json<{ ID: string }[]>('server', 'list');
      expect(gone.map(({ ID }) => ID)).not.toContain(victim.status.instanceID);
      const ports = await json<{ ID: string }[]>('port', 'list');
      expect(ports.map(({ ID }) => ID)).not.toContain(victim.status.resources.ports[0].id);
      servers = await activeServers(stage, ofCluster, 4);
      expect(servers.map(({ metadata }) => metadata.name)).not.toContain(victim.metadata.name);
    });

    it('notices a server that somebody else deleted', async () => {
      const victim = servers.find((server) => !isControlPlane(server))!;
      await stage.openstack.run('server', 'delete', victim.status.instanceID);
      const started = performance.now();
      await eventually(async () => {
        const { status } = await stage.get('openstackmachine', victim.metadata.name);
        expect(conditionOf(status, 'InstanceReady')).toMatchObject({ status: 'False', reason: 'InstanceDeleted' });
      }, 90_000);
      tell(`noticed ${Math.round((performance.now() - started) / 1000)} s after openstack server delete`);
      const { status } = await stage.get('openstackmachine', victim.metadata.name);
      tell(`it says: ${conditionOf(status, 'InstanceReady')?.message}`);
    });

    it('notices a port that somebody else deleted with the next complete list of servers', async () => {
      const victim = servers.findLast((server) => !isControlPlane(server))!;
      await stage.openstack.run('port', 'delete', victim.status.resources.ports[0].id);
      // nova does not count it as a change of the server, and the next full list may be ten minutes away.
      await stage.restart();
      await eventually(async () => {
        const { status } = await stage.get('openstackserver', victim.metadata.name);
        expect(conditionOf(status, 'InstanceReady')).toMatchObject({ status: 'False', reason: 'InstanceCutOff' });
      }, 90_000);
    });

    it('attaches its floating IP again when somebody removed it', async () => {
      const { host } = (await openStackCluster()).spec.controlPlaneEndpoint;
      await stage.openstack.run('floating', 'ip', 'unset', '--port', host);
      const { ports } = servers.find(isControlPlane)!.status.resources;
      await eventually(async () => {
        expect(await json('floating', 'ip', 'show', host)).toMatchObject({ port_id: ports[0].id });
      }, 90_000);
    });

    it('is deleted to the last resource and leaves resources of others alone', async () => {
      const started = performance.now();
      await stage.kubectl('delete', 'cluster', cluster, '--timeout=240s');
      tell(`gone after ${Math.round((performance.now() - started) / 1000)} s`);
      expect(await takeInventory(stage.openstack)).toEqual(before.inventory);
      expect(await foreign.look()).toEqual(before.foreign);
    });
  },
);
