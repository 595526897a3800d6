import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LatticeCluster } from '../../../src/api/index.ts';
import { collect } from '../../../src/openstack/index.ts';
import { capstan } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const missing = await missingKubectl();
const patienceMs = 240_000;

/** The guide has sizes for a real cloud. The steps are the same with fewer machines. */
const smaller = (manifest: string): string =>
  manifest.replace('controlPlane: 3', 'controlPlane: 1').replace('replicas: 5', 'replicas: 1');

// Guide 004 step by step, in its order: a whole cluster from one object.
describe.skipIf(missing !== undefined)(`guide 004${missing ? ` (${missing})` : ''}`, { timeout: 300_000 }, () => {
  let bench: Workbench;
  beforeAll(async () => {
    bench = await openWorkbench();
  });
  afterAll(() => bench?.stop());
  // Every step depends on the previous one, so after a failure the others are skipped.
  let failed = false;
  beforeEach((context) => context.skip(failed, 'an earlier step failed'));
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });

  const cluster = async (): Promise<LatticeCluster> =>
    JSON.parse(await bench.kubectl('get', 'lc', 'my-cluster', '-o', 'json')) as LatticeCluster;
  const untilReady = (controlPlane: number, workers: number): Promise<void> =>
    eventually(async () => {
      const { status, metadata } = await cluster();
      expect(status).toMatchObject({
        phase: 'Ready',
        pivotComplete: true,
        observedGeneration: metadata.generation,
        readyControlPlane: controlPlane,
        readyWorkers: workers,
      });
    }, patienceMs);
  const untilSaid = (text: string): Promise<void> =>
    eventually(async () => {
      expect((await cluster()).status?.message).toContain(text);
    });
  const nodes = async (): Promise<string[]> =>
    (await bench.workload('get', 'nodes', '--no-headers', '-o', 'custom-columns=A:.metadata.name'))
      .split('\n')
      .filter((line) => line !== '');

  it('refuses what cannot become a cluster and says what to change', async () => {
    const even = (manifest: string): string => manifest.replace('controlPlane: 3', 'controlPlane: 2');
    await expect(bench.apply(even)).rejects.toThrow(/spec\.nodes\.controlPlane: Invalid value: 2: .*write 1 or 3/);
  });

  it('waits for the Secret and says which one', async () => {
    await bench.apply((manifest) => smaller(manifest).replace('"b2-30"', '"b2-3000"'));
    await untilSaid('Secret capo-system/openstack-cloud-config does not exist; create it with the key clouds.yaml');
    const why = await capstan(['why', 'my-cluster', '--kubeconfig', bench.capstan.kubeconfig]);
    expect(why, why.stderr).toMatchObject({ code: 1 });
    expect(why.stdout).toMatch(
      /^my-cluster waits for LatticeCluster\/my-cluster .*Secret capo-system\/openstack-cloud-config/,
    );
    await bench.kubectl(
      ...['create', 'secret', 'generic', 'openstack-cloud-config', '-n', 'capo-system'],
      ...[`--from-file=clouds.yaml=${bench.cloudsYaml}`, `--from-file=cacert=${bench.authority}`],
    );
  });

  it('creates nothing before the cloud has what is named, and says what is missing', async () => {
    await untilSaid('there is no flavor "b2-3000"');
    expect(await bench.cloud.inventory()).toEqual(bench.before);
    expect((await bench.tryKubectl('get', 'namespace', 'capi-my-cluster')).code).not.toBe(0);
  });

  it('becomes a cluster of the printed version on a stock image', async () => {
    await bench.apply(smaller);
    await untilReady(1, 1);
    expect(await bench.kubectl('get', 'lc', 'my-cluster', '--no-headers')).toMatch(
      /^my-cluster +Ready +1\.32\.0 +openstack +1 +1 /,
    );
    const lines = (await bench.workload('get', 'nodes', '--no-headers')).trim().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/ Ready .* v1\.32\.0$/);
    expect(await bench.workload('get', 'nodes', '-l', 'lattice.dev/pool=default', '-o', 'name')).toContain(
      'my-cluster-pool-default',
    );
  });

  it('has its API behind Octavia, and its own network, volumes, flavors and key as printed', async () => {
    const { loadBalancers, networks, routers, volumes, servers } = await bench.cloud.inventory();
    expect(loadBalancers).toEqual(['k8s-clusterapi-cluster-capi-my-cluster-my-cluster-kubeapi']);
    expect(networks).toContain('k8s-clusterapi-cluster-capi-my-cluster-my-cluster');
    expect(routers).toContain('k8s-clusterapi-cluster-capi-my-cluster-my-cluster');
    expect(volumes - bench.before.volumes).toBe(2);
    expect(servers).toHaveLength(2);
    const { compute, volume } = bench.cloud.openstack;
    const made = await collect(compute.servers.list());
    expect(made.every(({ keyName }) => keyName === 'lattice-key')).toBe(true);
    const types = (await collect(volume.volumes.list())).map(({ volumeType, size }) => `${volumeType} ${size}`);
    expect(types.sort()).toEqual(['classic 50', 'high-speed 50']);
    const { status } = await cluster();
    expect(status?.endpoint).toMatch(/:6443$/);
  });

  it('has Cilium, the cloud controller and the CSI driver', async () => {
    const ready = async (kind: string, name: string): Promise<void> => {
      await bench.workload('rollout', 'status', `${kind}/${name}`, '-n', 'kube-system', '--timeout=120s');
    };
    await ready('daemonset', 'cilium');
    await ready('daemonset', 'openstack-cloud-controller-manager');
    await ready('daemonset', 'openstack-cinder-csi-nodeplugin');
    expect(await bench.workload('get', 'storageclass')).toContain('csi-cinder-sc-delete (default)');
    const ids = await bench.workload('get', 'nodes', '-o', 'jsonpath={.items[*].spec.providerID}');
    expect(ids.split(' ')).toEqual([
      expect.stringMatching(/^openstack:\/\/\/[0-9a-f-]{36}$/),
      expect.stringMatching(/^openstack:\/\/\/[0-9a-f-]{36}$/),
    ]);
  });

  it('scales a pool itself and reverts changes of others', async () => {
    const pool = { spec: { nodes: { workerPools: { default: { replicas: 2 } } } } };
    await bench.workload('patch', 'lc', 'my-cluster', '--type=merge', '-p', JSON.stringify(pool));
    await untilReady(1, 2);
    await bench.workload('-n', 'capi-my-cluster', 'scale', 'md/my-cluster-pool-default', '--replicas=1');
    await eventually(async () => {
      const path = ['-n', 'capi-my-cluster', 'get', 'md/my-cluster-pool-default', '-o', 'jsonpath={.spec.replicas}'];
      expect(await bench.workload(...path)).toBe('2');
    });
    await untilReady(1, 2);
    await eventually(async () => {
      expect(await nodes()).toHaveLength(3);
    }, patienceMs);
  });

  it('is deleted without leaving anything behind', async () => {
    await bench.kubectl('delete', 'lc', 'my-cluster', '--timeout=240s');
    expect(await bench.cloud.inventory()).toEqual(bench.before);
    // Deleted by the garbage collector, after its owner.
    await eventually(async () => {
      expect((await bench.tryKubectl('get', 'namespace', 'capi-my-cluster')).code).not.toBe(0);
    });
    // The reader's own Secret remains.
    await bench.kubectl('-n', 'capo-system', 'get', 'secret', 'openstack-cloud-config');
  });
});
