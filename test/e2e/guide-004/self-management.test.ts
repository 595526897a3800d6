import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LatticeCluster } from '../../../src/api/index.ts';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { capstan } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectlOn, missingKubectl } from '../../support/kubectl.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const missing = await missingKubectl();
const patienceMs = 240_000;
const objects = 'clusters,machines,machinesets,machinedeployments,openstackclusters,openstackmachines,openstackservers';

const smaller = (manifest: string): string =>
  manifest.replace('controlPlane: 3', 'controlPlane: 1').replace('replicas: 5', 'replicas: 1');

// The cluster of guide 004 has endpoints: it takes over its own objects, and its controllers run where its machines do.
describe.skipIf(missing !== undefined)(
  `a cluster manages itself${missing ? ` (${missing})` : ''}`,
  { timeout: 300_000 },
  () => {
    let bench: Workbench;
    let restarted: CapstanProcess | undefined;
    let servers: string[];
    beforeAll(async () => {
      bench = await openWorkbench();
      await bench.kubectl(
        ...['create', 'secret', 'generic', 'openstack-cloud-config', '-n', 'capo-system'],
        ...[`--from-file=clouds.yaml=${bench.cloudsYaml}`, `--from-file=cacert=${bench.authority}`],
      );
    });
    afterAll(async () => {
      await restarted?.end();
      await bench?.stop();
    });
    let failed = false;
    beforeEach((context) => context.skip(failed, 'an earlier step failed'));
    afterEach(({ task }) => {
      failed ||= task.result?.state === 'fail';
    });

    const cluster = async (): Promise<LatticeCluster> =>
      JSON.parse(await bench.kubectl('get', 'lc', 'my-cluster', '-o', 'json')) as LatticeCluster;
    const childFile = (): string => join(bench.capstan.directory, 'child.kubeconfig');
    const inside = (...args: string[]): Promise<string> => kubectlOn(childFile(), bench.capstan.directory)(...args);
    const namesIn = async (run: (...args: string[]) => Promise<string>): Promise<string[]> =>
      (await run('-n', 'capi-my-cluster', 'get', objects, '-o', 'name')).split('\n').filter((line) => line !== '');
    const readyNodes = async (): Promise<number> =>
      (await inside('get', 'nodes', '--no-headers')).split('\n').filter((line) => / Ready /.test(line)).length;

    it('takes over its own objects once it is ready', async () => {
      await bench.apply(smaller);
      await eventually(async () => {
        const { status } = await cluster();
        expect(status).toMatchObject({ phase: 'Ready', pivotComplete: true, readyControlPlane: 1, readyWorkers: 1 });
        expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'SelfManaged', status: 'True' }));
        expect(status?.conditions).toContainEqual(expect.objectContaining({ type: 'Connected', status: 'True' }));
      }, patienceMs);
      const asked = [
        'get',
        'kubeconfig',
        'my-cluster',
        '-n',
        'lattice-system',
        '--kubeconfig',
        bench.capstan.kubeconfig,
      ];
      const outcome = await capstan(asked);
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
      await writeFile(childFile(), outcome.stdout, { mode: 0o600 });
      expect(await namesIn(bench.kubectl)).toEqual([]);
      expect(await namesIn(inside)).toContain('cluster.cluster.x-k8s.io/my-cluster');
      ({ servers } = await bench.cloud.inventory());
      expect(servers).toHaveLength(2);
    });

    it('scales and heals itself while its parent is dead', async () => {
      await bench.capstan.end('SIGKILL');
      const pool = { spec: { nodes: { workerPools: { default: { replicas: 2 } } } } };
      await inside('patch', 'lc', 'my-cluster', '--type=merge', '-p', JSON.stringify(pool));
      await eventually(async () => expect(await readyNodes()).toBe(3), patienceMs);
      const [machine = ''] = (await inside('-n', 'capi-my-cluster', 'get', 'machines', '-o', 'name'))
        .split('\n')
        .filter((name) => name.includes('pool-default'));
      await inside('-n', 'capi-my-cluster', 'delete', machine, '--wait=false');
      await eventually(async () => {
        const left = await namesIn(inside);
        expect(left).not.toContain(machine);
        expect(left.filter((name) => name.startsWith('machine.'))).toHaveLength(3);
        expect(await readyNodes()).toBe(3);
      }, patienceMs);
      expect((await bench.cloud.inventory()).servers).toHaveLength(3);
    });

    it('is seen by the parent that comes back', async () => {
      const { directory, port } = bench.capstan;
      const { args } = bench;
      restarted = await startCapstan({ controllers: 'all', pods: 'simulated', directory, port, args });
      await eventually(async () => {
        expect((await cluster()).status).toMatchObject({ phase: 'Ready', readyWorkers: 2 });
      }, patienceMs);
      expect(await namesIn(bench.kubectl)).toEqual([]);
    });

    it('comes back to its parent when it is deleted in itself, and goes without a trace', async () => {
      await inside('delete', 'lc', 'my-cluster', '--wait=false');
      await bench.kubectl('wait', '--for=delete', 'lc/my-cluster', '--timeout=240s');
      expect(await bench.cloud.inventory()).toEqual(bench.before);
      await expect(bench.kubectl('-n', 'lattice-system', 'get', 'secret', 'my-cluster-kubeconfig')).rejects.toThrow();
    });
  },
);
