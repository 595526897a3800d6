import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type HostedBench, openHostedBench } from '../../support/hosted-bench.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { networkPlugin } from '../../support/network-plugin.ts';
import { openWorkbench as openGuide000 } from '../guide-000/workbench.ts';
import { cloudControllerManager, forWorkers, openWorkbench as openGuide002 } from '../guide-002/workbench.ts';

const missing = await missingKubectl();
const patienceMs = 120_000;

// The clusters of guides 000 and 002 with the cloud in a separate process: workers reach the hosted control planes only
// over the network.
describe.skipIf(missing !== undefined)(`a cloud apart${missing ? ` (${missing})` : ''}`, { timeout: 300_000 }, () => {
  let bench: HostedBench;
  beforeAll(async () => {
    bench = await openHostedBench({ cloudApart: true });
  });
  afterAll(() => bench?.stop());
  // Every step depends on the previous one, so after a failure the others are skipped.
  let failed = false;
  beforeEach((context) => context.skip(failed, 'an earlier step failed'));
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail';
  });

  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
  /** waits until the only node is Ready and initialized by the cloud provider */
  const untilOneNodeReady = async (kubectl: (...args: string[]) => Promise<string>): Promise<void> =>
    eventually(async () => {
      const { items } = JSON.parse(await kubectl('get', 'nodes', '-o', 'json')) as {
        items: {
          metadata: { labels: Record<string, string> };
          spec: { providerID?: string; taints?: { key: string }[] };
          status: { conditions: { type: string; status: string }[] };
        }[];
      };
      expect(items).toHaveLength(1);
      const [node] = items;
      expect(node?.status.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }));
      expect(node?.spec.providerID).toMatch(/^openstack:\/\/\w*\/[0-9a-f-]{36}$/);
      expect(node?.spec.taints ?? []).toEqual([]);
      expect(node?.metadata.labels['topology.kubernetes.io/zone']).toBeDefined();
    }, patienceMs);

  it('joins the k0s worker of guide 000', async () => {
    const guide = await openGuide000(bench);
    await bench.kubectl('create', 'namespace', 'hcp-system');
    await bench.kubectl(
      ...['-n', 'hcp-system', 'create', 'secret', 'generic', 'openstack-cloud-config'],
      `--from-file=clouds.yaml=${bench.cloudsYaml}`,
    );
    await guide.apply((documents) => documents);
    await eventually(async () => {
      expect(lines(await guide.workload('get', 'nodes', '--no-headers'))).toHaveLength(1);
    }, patienceMs);
    await guide.workload(
      ...['-n', 'kube-system', 'create', 'secret', 'generic', 'openstack-cloud-config'],
      `--from-file=clouds.yaml=${bench.cloudsYaml}`,
    );
    await untilOneNodeReady(guide.workload);
  });

  it('joins the kubeadm worker of guide 002', async () => {
    const guide = await openGuide002(bench);
    await bench.apply(guide.manifest);
    await eventually(async () => {
      const cluster = await bench.workload({ namespace: 'default', name: 'capi-quickstart' });
      expect(lines(await cluster.kubectl('get', 'nodes', '--no-headers'))).toHaveLength(1);
    }, patienceMs);
    const cluster = await bench.workload({ namespace: 'default', name: 'capi-quickstart' });
    const file = join(bench.capstan.directory, 'cloud.conf');
    await writeFile(file, guide.cloudConf, { mode: 0o600 });
    await cluster.kubectl(
      ...['-n', 'kube-system', 'create', 'secret', 'generic', 'cloud-config', `--from-file=cloud.conf=${file}`],
    );
    await cluster.apply(forWorkers(await cloudControllerManager()));
    await cluster.apply(networkPlugin);
    await untilOneNodeReady(cluster.kubectl);
  });

  it('shows the running machines and deletes everything', async () => {
    await eventually(async () => {
      const path = 'jsonpath={.items[*].status.phase}';
      expect(await bench.kubectl('get', 'machines', '-A', '-o', path)).toBe('Running Running');
    }, patienceMs);
    await Promise.all([
      bench.kubectl('-n', 'hcp-system', 'delete', 'cluster', 'openstack-hcp-cluster', '--wait', '--timeout=180s'),
      bench.kubectl('delete', 'cluster', 'capi-quickstart', '--wait', '--timeout=180s'),
    ]);
    expect(await bench.cloud.inventory()).toEqual(bench.before);
  });
});
