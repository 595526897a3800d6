import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { capstan, capstanOk } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { type House, openHouse, readyNodes } from './house.ts';

const missing = await missingKubectl();

describe.skipIf(missing !== undefined)(`a cluster on machines${missing ? ` (${missing})` : ''}`, () => {
  let house: House;
  const on = (...args: string[]): string[] => [...args, '--kubeconfig', house.capstan.kubeconfig];
  beforeAll(async () => {
    house = await openHouse();
  });
  afterAll(() => house?.stop());

  it('has Ready nodes after it is applied as the example says', async () => {
    const text = await capstanOk(on('apply', '-f', 'examples/vm-cluster'));
    expect(text.split('\n')).toContain('cluster.cluster.x-k8s.io/vm-cluster created');
    await eventually(async () => {
      await house.workload('vm-cluster');
    }, 60_000);
    const found = await readyNodes(house, 'vm-cluster', 3);
    expect(found.map(({ roles }) => roles).sort()).toEqual(['<none>', '<none>', 'control-plane']);
  });

  it('runs ordinary Pods: names, logs, commands', async () => {
    const workload = await house.workload('vm-cluster');
    await workload('-n', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=60s');
    await workload('create', 'deployment', 'web', '--image=nginx', '--replicas=2');
    await workload('wait', 'deployment/web', '--for=condition=Available', '--timeout=60s');
    expect(await workload('logs', 'deployment/web')).toContain('simulated container of image nginx');
    expect(await workload('exec', 'deployment/web', '--', 'sh', '-c', 'echo $((6 * 7))')).toBe('42\n');
    const [node] = JSON.parse(await workload('get', 'nodes', '-o', 'json')).items as {
      spec: { taints?: { key: string }[]; providerID?: string };
      metadata: { labels: Record<string, string> };
    }[];
    expect(node?.spec.providerID).toMatch(/^openstack:\/\/\//);
    expect(node?.metadata.labels).toHaveProperty(['topology.kubernetes.io/zone']);
  });

  it('is described as one tree, all of it ready', async () => {
    await eventually(async () => {
      const text = await capstanOk(on('describe', 'cluster', 'vm-cluster'));
      const lines = text.trimEnd().split('\n');
      expect(lines[0]).toMatch(/^NAME +READY {2}SEVERITY {2}REASON +SINCE +MESSAGE$/);
      expect(lines.slice(1).map((line) => line.replace(/^[│├└─ ]*/, '').replace(/ {2,}.*$/, ''))).toEqual([
        'Cluster/vm-cluster',
        'ClusterInfrastructure - OpenStackCluster/vm-cluster',
        'ControlPlane - KubeadmControlPlane/vm-cluster-control-plane',
        expect.stringMatching(/^Machine\/vm-cluster-control-plane-/),
        'Workers',
        'MachineDeployment/vm-cluster-md-0',
        '2 Machines...',
      ]);
      for (const line of lines.slice(1)) if (!line.includes('Workers')) expect(line).toMatch(/ True /);
    }, 60_000);
  });

  it('is available to kubectl and in the list of clusters', async () => {
    await house.kubectl('wait', '--for=condition=Available', 'cluster/vm-cluster', '--timeout=60s');
    await house.kubectl('wait', '--for=condition=Available', 'kcp/vm-cluster-control-plane', '--timeout=60s');
    expect(await capstanOk(on('get', 'clusters'))).toMatch(/vm-cluster +Provisioned +True +1\/1 +2\/2/);
  });

  it('is left alone when it is applied again', async () => {
    const text = await capstanOk(on('apply', '-f', 'examples/vm-cluster'));
    expect(
      text
        .trimEnd()
        .split('\n')
        .filter((line) => !line.endsWith(' unchanged')),
    ).toEqual([]);
  });

  it('is deleted to the last resource and keeps what others brought', async () => {
    const outcome = await capstan(on('delete', '-f', 'examples/vm-cluster', '--timeout', '120s'));
    // Most objects of the files were deleted with the cluster, which is not an error.
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    expect(outcome.stdout.split('\n')[0]).toBe('cluster.cluster.x-k8s.io "vm-cluster" deleted');
    expect(outcome.stdout).toContain('kubeadmconfigtemplate.bootstrap.cluster.x-k8s.io "vm-cluster-md-0" deleted\n');
    expect(outcome.stderr).toContain('deleting the workers: ');
    expect(await house.cloud.inventory()).toEqual(house.before);
  });
});
