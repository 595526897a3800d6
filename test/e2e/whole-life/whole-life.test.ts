import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { capstan } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { type House, nodes, openHouse, readyNodes } from '../vm-cluster/house.ts';
import { beginWith, upgradeOf } from './manifests.ts';

const missing = await missingKubectl();
const versions = { printed: 'v1.33.6', first: 'v1.32.8', next: 'v1.33.6' };
const patienceMs = 300_000;

// The same life in the two forms people write: three control planes behind a load balancer, in zones and on volumes.
const forms = [
  { form: 'v1beta1', file: 'test/e2e/whole-life/testdata/v1beta1.yaml', cluster: 'elder', workers: 2 },
  { form: 'v1beta2', file: 'examples/vm-cluster-ha/cluster.yaml', cluster: 'vm-cluster-ha', workers: 3 },
] as const;

describe.skipIf(missing !== undefined).each(forms)(
  `a whole life in the form of $form${missing ? ` (${missing})` : ''}`,
  { timeout: patienceMs + 30_000 },
  ({ file, cluster, workers }) => {
    let house: House;
    let manifest: string;
    beforeAll(async () => {
      house = await openHouse();
      manifest = beginWith(await readFile(file, 'utf8'), versions);
    });
    afterAll(() => house?.stop());
    // Every step stands on the one before; after a failure the others would only wait in vain.
    let failed = false;
    beforeEach((context) => context.skip(failed, 'an earlier step failed'));
    afterEach(({ task }) => {
      failed ||= task.result?.state === 'fail';
    });

    const apply = async (name: string, text: string): Promise<string> => {
      const path = join(house.capstan.directory, name);
      await writeFile(path, text);
      return house.kubectl('apply', '-f', path);
    };
    const available = (...what: string[]): Promise<string> =>
      house.kubectl('wait', '--for=condition=Available', ...what, `--timeout=${patienceMs / 1000}s`);
    /** every node has this version, and there are so many */
    const untilNodesRun = (version: string, count: number, role: string): Promise<void> =>
      eventually(async () => {
        const workload = await house.workload(cluster);
        const text = await workload(
          'get',
          'nodes',
          '-o',
          `jsonpath={range .items[*]}{.metadata.labels}|{.status.nodeInfo.kubeletVersion}{"\\n"}{end}`,
        );
        const found = text
          .trimEnd()
          .split('\n')
          .filter((line) => line.includes('node-role.kubernetes.io/control-plane') === (role === 'control-plane'));
        expect(found.map((line) => line.split('|')[1])).toEqual(Array.from({ length: count }, () => version));
      }, patienceMs);

    it('comes up behind a load balancer, on volumes, in three zones', async () => {
      await apply('cluster.yaml', manifest);
      await available(`cluster/${cluster}`, `kcp/${cluster}-control-plane`);
      await readyNodes(house, cluster, 3 + workers, patienceMs);
      const { loadBalancers, volumes, servers } = await house.cloud.inventory();
      expect(loadBalancers).toEqual([`k8s-clusterapi-cluster-default-${cluster}-kubeapi`]);
      expect(servers).toHaveLength(3 + workers);
      expect(volumes).toBe(3 + workers);
      const zones = ['-l', 'cluster.x-k8s.io/control-plane', '-o', 'jsonpath={.items[*].spec.failureDomain}'];
      expect((await house.kubectl('get', 'machines', ...zones)).split(' ').sort()).toEqual(['az2', 'az3', 'nova']);
    });

    it('is upgraded by one minor version, control plane first', async () => {
      const upgrade = upgradeOf(manifest, versions);
      await apply('upgrade.yaml', upgrade.controlPlane);
      await untilNodesRun(versions.next, 3, 'control-plane');
      await apply('workers.yaml', upgrade.workers);
      await untilNodesRun(versions.next, workers, 'worker');
      await available(`cluster/${cluster}`, `kcp/${cluster}-control-plane`);
      await readyNodes(house, cluster, 3 + workers, patienceMs);
    });

    it.each([
      ['worker', `cluster.x-k8s.io/deployment-name=${cluster}-md-0`],
      ['control plane', 'cluster.x-k8s.io/control-plane'],
    ])('replaces a %s whose server is switched off', async (_, selector) => {
      const listed = await house.kubectl('get', 'machines', '-l', selector, '-o', 'jsonpath={.items[*].metadata.name}');
      const [machine = ''] = listed.split(' ');
      const { compute } = house.cloud.openstack;
      const server = await house.kubectl('get', 'machine', machine, '-o', 'jsonpath={.spec.providerID}');
      await compute.servers.stop(server.replace(/^.*\//, ''));
      await eventually(async () => {
        const now = await house.kubectl('get', 'machines', '-o', 'jsonpath={.items[*].metadata.name}');
        expect(now.split(' ')).not.toContain(machine);
      }, patienceMs);
      await readyNodes(house, cluster, 3 + workers, patienceMs);
    });

    it('is scaled in both directions', async () => {
      await house.kubectl('scale', `md/${cluster}-md-0`, '--replicas=3');
      await readyNodes(house, cluster, 3 + workers + (3 - 2), patienceMs);
      await house.kubectl('scale', `md/${cluster}-md-0`, '--replicas=1');
      await house.kubectl('scale', `kcp/${cluster}-control-plane`, '--replicas=1');
      await readyNodes(house, cluster, 1 + workers - 1, patienceMs);
      const found = await nodes(await house.workload(cluster));
      expect(found.filter(({ roles }) => roles.includes('control-plane'))).toHaveLength(1);
    });

    it('is deleted to the last resource', async () => {
      const on = ['--kubeconfig', house.capstan.kubeconfig];
      const outcome = await capstan(['delete', 'cluster', cluster, '--wait', '--timeout', '240s', ...on]);
      expect(outcome).toMatchObject({ code: 0 });
      expect(await house.cloud.inventory()).toEqual(house.before);
    });
  },
);
