import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capstan, capstanOk } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { type House, nodes, openHouse, readyNodes } from './house.ts';

const missing = await missingKubectl();
const name = 'vm-cluster-rke2';

describe.skipIf(missing !== undefined)(`a cluster of rke2 on machines${missing ? ` (${missing})` : ''}`, () => {
  let house: House;
  const on = (...args: string[]): string[] => [...args, '--kubeconfig', house.capstan.kubeconfig];
  beforeAll(async () => {
    house = await openHouse();
  });
  afterAll(() => house?.stop());

  const servers = async (count: number): Promise<string[]> => {
    await house.kubectl('scale', 'rke2controlplane', name, `--replicas=${count}`);
    await readyNodes(house, name, count + 2, 180_000);
    let found: string[] = [];
    await eventually(async () => {
      const path = 'jsonpath={.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas}';
      const counts = await house.kubectl('get', 'rke2controlplane', name, '-o', path);
      expect(counts).toBe(`${count} ${count} ${count}`);
      // A server labels its Node after the Node is Ready.
      const all = await nodes(await house.workload(name));
      found = all.filter(({ roles }) => roles.includes('control-plane')).map((node) => node.name);
      expect(found).toHaveLength(count);
    }, 60_000);
    return found;
  };

  it('has Ready nodes after it is applied as the example says', async () => {
    await capstanOk(on('apply', '-f', 'examples/vm-cluster-rke2'));
    await eventually(async () => {
      await house.workload(name);
    }, 60_000);
    const found = await readyNodes(house, name, 3);
    expect(found.map(({ roles }) => roles).sort()).toEqual(['<none>', '<none>', 'control-plane,etcd']);
    const workload = await house.workload(name);
    const labelled = await workload('get', 'nodes', '-l', 'example.org/pool=agents', '--no-headers');
    expect(labelled.trim().split('\n')).toHaveLength(2);
    const ids = await workload('get', 'nodes', '-o', 'jsonpath={.items[*].spec.providerID}');
    for (const id of ids.split(' ')) expect(id).toMatch(/^openstack:\/\/\//);
  });

  it('is Available in the conditions of both versions', async () => {
    await house.kubectl('wait', '--for=condition=Available', `cluster/${name}`, '--timeout=60s');
    await house.kubectl('wait', '--for=condition=Available', `rke2controlplane/${name}`, '--timeout=60s');
    const old = JSON.parse(
      await house.kubectl('get', 'rke2controlplanes.v1beta1.controlplane.cluster.x-k8s.io', name, '-o', 'json'),
    );
    expect(old.status).toMatchObject({ initialized: true, ready: true, readyReplicas: 1, updatedReplicas: 1 });
    expect(old.spec.machineTemplate.infrastructureRef).toMatchObject({ name: `${name}-server` });
  });

  it('serves registrations at its load balancer, whose monitor checks the API', async () => {
    const { loadBalancer } = house.cloud.openstack;
    const ports = new Map<number, number[]>();
    for await (const pool of loadBalancer.pools.list({})) {
      for await (const member of loadBalancer.members(pool.id).list({})) {
        ports.set(member.protocolPort, [...(ports.get(member.protocolPort) ?? []), member.monitorPort ?? 0]);
      }
    }
    expect(Object.fromEntries(ports)).toEqual({ 6443: [0], 9345: [6443] });
  });

  it('scales its servers 1 -> 3 -> 1 -> 3', async () => {
    expect(await servers(3)).toHaveLength(3);
    expect(await servers(1)).toHaveLength(1);
    expect(await servers(3)).toHaveLength(3);
  });

  it('upgrades server by server, and then its agents', async () => {
    const version = 'v1.34.2+rke2r1';
    const patch = (spec: object): string => JSON.stringify({ spec });
    await house.kubectl('patch', 'rke2controlplane', name, '--type=merge', '-p', patch({ version }));
    const versions = async (selector: string): Promise<string[]> => {
      const workload = await house.workload(name);
      const text = await workload(
        'get',
        'nodes',
        '-l',
        selector,
        '-o',
        'jsonpath={.items[*].status.nodeInfo.kubeletVersion}',
      );
      return text.split(' ');
    };
    await eventually(async () => {
      expect(await versions('node-role.kubernetes.io/control-plane')).toEqual([version, version, version]);
    }, 240_000);
    const template = patch({ template: { spec: { version } } });
    await house.kubectl('patch', 'machinedeployment', `${name}-agent`, '--type=merge', '-p', template);
    await eventually(async () => {
      expect(await versions('example.org/pool=agents')).toEqual([version, version]);
    }, 120_000);
    await eventually(async () => {
      expect(await nodes(await house.workload(name))).toHaveLength(5);
    }, 60_000);
  });

  it('replaces a server that a health check gives up', async () => {
    await house.kubectl('apply', '-f', 'test/e2e/vm-cluster/rke2-health-check.yaml');
    const list = async (): Promise<string[]> => {
      const text = await house.kubectl('get', 'machines', '-l', 'cluster.x-k8s.io/control-plane', '-o', 'name');
      return text.trim().split('\n');
    };
    const [lost = ''] = await list();
    await house.kubectl('annotate', lost, 'cluster.x-k8s.io/remediate-machine=');
    await eventually(async () => {
      const machines = await list();
      expect(machines).toHaveLength(3);
      expect(machines).not.toContain(lost);
    }, 100_000);
    await readyNodes(house, name, 5, 100_000);
  });

  it('is deleted to the last resource and keeps what others brought', async () => {
    const outcome = await capstan(on('delete', '-f', 'examples/vm-cluster-rke2', '--timeout', '180s'));
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    expect(await house.cloud.inventory()).toEqual(house.before);
  });
});
