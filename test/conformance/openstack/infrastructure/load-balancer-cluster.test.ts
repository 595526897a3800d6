import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../support/eventually.ts';
import { type Foreign, makeForeign } from './foreign.ts';
import { type Inventory, takeInventory } from './inventory.ts';
import { controlPlaneZones, loadBalancerCluster, userData } from './manifests.ts';
import { activeServers, allReady, missingForRealCloud, openStage, type Stage, type Thing, tell } from './stage.ts';

const missing = await missingForRealCloud();
const cluster = 'vm-cluster-ha';
const ofCluster = `cluster.x-k8s.io/cluster-name=${cluster}`;
/** three control plane machines, three workers, one bastion */
const serverCount = 7;

describe.skipIf(missing !== undefined)(
  `a cluster behind a load balancer on a real cloud${missing ? ` (${missing})` : ''}`,
  { timeout: 300_000 },
  () => {
    let stage: Stage;
    let foreign: Foreign;
    let before: { inventory: Inventory; foreign: Record<string, unknown> };
    let servers: Thing[];
    const json = <T = Record<string, unknown>>(...args: string[]): Promise<T> => stage.openstack.json<T>(...args);
    const openStackCluster = (): Promise<Thing> => stage.get('openstackcluster', cluster);
    const serverNamed = (name: string): Thing => {
      const found = servers.find(({ metadata }) => metadata.name === name);
      if (!found) throw new Error(`there is no OpenStackServer ${name}`);
      return found;
    };
    const apiName = (): string => `k8s-clusterapi-cluster-${stage.namespace}-${cluster}-kubeapi`;
    const machineName = (index: number): string => `${cluster}-cp-${index}`;

    beforeAll(async () => {
      stage = await openStage();
      foreign = await makeForeign(stage.openstack, stage.namespace, cluster);
      before = { inventory: await takeInventory(stage.openstack), foreign: await foreign.look() };
    });
    afterAll(() => stage?.close());

    it('runs all its servers after it is applied', async () => {
      const started = performance.now();
      await stage.apply([userData(), ...(await loadBalancerCluster(foreign.keyName))]);
      servers = await activeServers(stage, ofCluster, serverCount);
      tell(`${serverCount} servers run ${Math.round((performance.now() - started) / 1000)} s after kubectl apply`);
      await stage.kubectl('wait', '--for=condition=Ready', `openstackcluster/${cluster}`, '--timeout=60s');
      await allReady(stage, 'openstackmachines', ofCluster);
    });

    it('offers the zones of the cloud as failure domains', async () => {
      const { status } = await openStackCluster();
      expect(status.failureDomains).toEqual(
        [...controlPlaneZones].sort().map((name) => ({ name, controlPlane: true })),
      );
    });

    const members = async (port: number): Promise<string[]> => {
      const rows = await json<Record<string, unknown>[]>('loadbalancer', 'member', 'list', `${apiName()}-${port}`);
      return rows.map((row) => `${row['name']} ${row['address']}:${row['protocol_port']}`).sort();
    };
    const expectedMembers = (port: number, indexes: readonly number[]): string[] =>
      indexes.map((index) => {
        const { address } = serverNamed(machineName(index)).status.addresses[0];
        return `${apiName()}-${port}-${machineName(index)} ${address}:${port}`;
      });

    it('has every control plane machine behind every port', async () => {
      await eventually(async () => {
        for (const port of [6443, 9345]) expect(await members(port)).toEqual(expectedMembers(port, [0, 1, 2]));
      }, 60_000);
    });

    it('has a load balancer with a listener, a pool and a monitor for each port', async () => {
      const { spec, status } = await openStackCluster();
      const { id, ip, internalIP } = status.apiServerManagedLoadBalancer;
      const shown = await json('loadbalancer', 'show', id);
      expect(shown).toMatchObject({ name: apiName(), vip_address: internalIP, vip_network_id: status.network.id });
      await eventually(async () => {
        expect(await json('loadbalancer', 'show', id)).toMatchObject({ provisioning_status: 'ACTIVE' });
      });
      expect(spec.controlPlaneEndpoint).toEqual({ host: ip, port: 6443 });
      expect(await json('floating', 'ip', 'show', ip)).toMatchObject({ port_id: shown['vip_port_id'] });
      const listeners = await json<Record<string, unknown>[]>(
        'loadbalancer',
        'listener',
        'list',
        ...['--loadbalancer', id],
      );
      expect(listeners.map((row) => [row['name'], row['protocol'], row['protocol_port']]).sort()).toEqual([
        [`${apiName()}-6443`, 'TCP', 6443],
        [`${apiName()}-9345`, 'TCP', 9345],
      ]);
      const pools = await json<Record<string, unknown>[]>('loadbalancer', 'pool', 'list', '--loadbalancer', id);
      expect(pools.map((row) => [row['name'], row['protocol'], row['lb_algorithm']]).sort()).toEqual([
        [`${apiName()}-6443`, 'TCP', 'ROUND_ROBIN'],
        [`${apiName()}-9345`, 'TCP', 'ROUND_ROBIN'],
      ]);
      for (const { id: pool } of pools) {
        const { healthmonitor_id: monitor } = await json<{ healthmonitor_id: string }>(
          'loadbalancer',
          'pool',
          'show',
          String(pool),
        );
        expect(await json('loadbalancer', 'healthmonitor', 'show', monitor)).toMatchObject({
          type: 'TCP',
          delay: 10,
          timeout: 5,
          max_retries: 5,
          max_retries_down: 3,
        });
      }
    });

    it('has its control plane machines in their zones, on volumes', async () => {
      for (const [index, zone] of controlPlaneZones.entries()) {
        const server = serverNamed(machineName(index));
        const shown = await json<{ volumes_attached: { id: string }[] }>('server', 'show', server.status.instanceID);
        expect(shown).toMatchObject({
          name: machineName(index),
          status: 'ACTIVE',
          // nova defines zones by aggregates. `nova` has none and means any host.
          'OS-EXT-AZ:availability_zone': zone === 'nova' ? expect.any(String) : zone,
          flavor: expect.stringContaining('SCS-2V-8'),
        });
        const volumes: Record<string, unknown>[] = [];
        for (const { id } of shown.volumes_attached) volumes.push(await json('volume', 'show', id));
        volumes.sort((a, b) => String(b['name']).localeCompare(String(a['name'])));
        expect(volumes).toMatchObject([
          {
            name: `${machineName(index)}-root`,
            size: 25,
            bootable: 'true',
            status: 'in-use',
            availability_zone: 'nova',
            description: `Root volume for ${machineName(index)}`,
            properties: { 'capstan-owner': server.metadata.uid },
          },
          {
            name: `${machineName(index)}-etcd`,
            size: 2,
            bootable: 'false',
            status: 'in-use',
            description: `Additional block device for ${machineName(index)}`,
          },
        ]);
      }
    });

    it('has a bastion with a floating IP and a group of its own', async () => {
      const { status } = await openStackCluster();
      const bastion = serverNamed(`${cluster}-bastion`);
      expect(status.bastion).toMatchObject({ id: bastion.status.instanceID, state: 'ACTIVE' });
      const [port] = bastion.status.resources.ports;
      expect(await json('floating', 'ip', 'show', status.bastion.floatingIP)).toMatchObject({ port_id: port.id });
      expect(await json('port', 'show', port.id)).toMatchObject({
        security_group_ids: [status.bastionSecurityGroup.id],
      });
    });

    it('has rules for etcd, kubelets and a bastion where not all traffic is allowed', async () => {
      const { status } = await openStackCluster();
      const { id } = status.controlPlaneSecurityGroup;
      const rows = await json<Record<string, unknown>[]>('security', 'group', 'rule', 'list', id);
      const ports = rows.map((row) => `${row['Direction']} ${row['Port Range']}`).sort();
      expect(ports).toEqual([
        'egress ',
        'egress ',
        'ingress 10250:10250',
        'ingress 10250:10250',
        'ingress 22:22',
        'ingress 2379:2380',
        'ingress 6443:6443',
        'ingress 9345:9345',
      ]);
    });

    it('has its workers in a server group for each set', async () => {
      const groups = (await json<Record<string, unknown>[]>('server', 'group', 'list', '--long')).filter((row) =>
        String(row['Name']).includes(`${stage.namespace}-${cluster}`),
      );
      expect(groups).toHaveLength(2);
      const workers = servers.filter(({ metadata }) => metadata.name.includes('-md-'));
      const found = groups.flatMap((row) => row['Members'] as string[]).sort();
      expect(found).toEqual(workers.map(({ status }) => status.instanceID).sort());
      for (const row of groups) expect(row['Policies']).toEqual(['soft-anti-affinity']);
    });

    it('removes a deleted control plane machine from the pools, with its volumes', async () => {
      await stage.kubectl('delete', 'machine', machineName(2), '--timeout=180s');
      for (const port of [6443, 9345]) expect(await members(port)).toEqual(expectedMembers(port, [0, 1]));
      const volumes = await stage.openstack.names('volume', 'list');
      expect(volumes.filter((name) => name.startsWith(machineName(2)))).toEqual([]);
    });

    it('recreates a load balancer that somebody else deleted, with its members and address', async () => {
      const { status } = await openStackCluster();
      const { id, ip } = status.apiServerManagedLoadBalancer;
      const started = performance.now();
      await stage.openstack.run('loadbalancer', 'delete', id, '--cascade');
      await eventually(async () => {
        const { status: now } = await openStackCluster();
        expect(now.apiServerManagedLoadBalancer.id).not.toBe(id);
        for (const port of [6443, 9345]) expect(await members(port)).toEqual(expectedMembers(port, [0, 1]));
        const { vip_port_id: vip } = await json('loadbalancer', 'show', apiName());
        expect(await json('floating', 'ip', 'show', ip)).toMatchObject({ port_id: vip });
      }, 200_000);
      tell(`whole again ${Math.round((performance.now() - started) / 1000)} s after openstack loadbalancer delete`);
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
