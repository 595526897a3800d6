import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { capstan } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { networkPlugin } from '../../support/network-plugin.ts';
import { type House, nodes, openHouse, readyNodes } from '../vm-cluster/house.ts';
import { beginWith, upgradeOf } from './manifests.ts';

const missing = await missingKubectl();
const versions = { printed: 'v1.33.6', first: 'v1.32.8', next: 'v1.33.6' };
const patienceMs = 300_000;

// The same lifecycle in two API versions: three control planes behind a load balancer, in zones and on volumes.
const forms = [
  { form: 'v1beta1', file: 'test/e2e/whole-life/testdata/v1beta1.yaml', cluster: 'elder', workers: 2 },
  { form: 'v1beta2', file: 'examples/vm-cluster-ha/cluster.yaml', cluster: 'vm-cluster-ha', workers: 3 },
] as const;

/** A cluster with functions to inspect it and its cloud. */
interface Life {
  readonly house: House;
  readonly cluster: string;
  readonly workers: number;
  readonly manifest: string;
}

const steps: readonly (readonly [string, (life: Life) => Promise<void>])[] = [
  ['comes up behind a load balancer, on volumes, in three zones', comesUp],
  ['is upgraded by one minor version, control plane first', isUpgraded],
  ['replaces a worker whose server is switched off', (life) => replaces(life, deploymentSelector(life))],
  ['replaces a control plane whose server is switched off', (life) => replaces(life, 'cluster.x-k8s.io/control-plane')],
  ['is scaled in both directions', isScaled],
  ['is deleted to the last resource', isDeleted],
];

describe.skipIf(missing !== undefined)(`a whole life${missing ? ` (${missing})` : ''}`, () => {
  // The tests mostly wait, so running both in parallel takes hardly longer than one.
  it.concurrent.each(forms)(
    'passes every step with $form',
    { timeout: 4 * patienceMs },
    async ({ file, cluster, workers }) => {
      const house = await openHouse();
      try {
        const life = { house, cluster, workers, manifest: beginWith(await readFile(file, 'utf8'), versions) };
        for (const [name, step] of steps) {
          await step(life).catch((cause: unknown) => {
            throw new Error(`${cluster} ${name}: ${String(cause)}`, { cause });
          });
        }
      } finally {
        await house.stop();
      }
    },
  );
});

async function comesUp(life: Life): Promise<void> {
  const { house, cluster, workers, manifest } = life;
  await apply(life, 'cluster.yaml', manifest);
  // The example includes a network plugin. The older form does not, so it is installed afterwards.
  if (!manifest.includes('flannel')) await installNetworkPlugin(life);
  await available(life);
  await readyNodes(house, cluster, 3 + workers, patienceMs);
  if (manifest.includes('openstack-cloud-controller-manager')) {
    const workload = await house.workload(cluster);
    await workload('create', 'deployment', 'web', '--image=nginx', '--replicas=2');
    await workload('wait', 'deployment/web', '--for=condition=Available', '--timeout=60s');
  }
  const { loadBalancers, volumes, servers } = await house.cloud.inventory();
  expect(loadBalancers).toEqual([`k8s-clusterapi-cluster-default-${cluster}-kubeapi`]);
  expect(servers).toHaveLength(3 + workers);
  expect(volumes).toBe(3 + workers);
  const zones = ['-l', 'cluster.x-k8s.io/control-plane', '-o', 'jsonpath={.items[*].spec.failureDomain}'];
  expect((await house.kubectl('get', 'machines', ...zones)).split(' ').sort()).toEqual(['az2', 'az3', 'nova']);
}

async function isUpgraded(life: Life): Promise<void> {
  const { house, cluster, workers, manifest } = life;
  const upgrade = upgradeOf(manifest, versions);
  await apply(life, 'upgrade.yaml', upgrade.controlPlane);
  await untilNodesRun(life, 'control-plane', 3);
  await apply(life, 'workers.yaml', upgrade.workers);
  await untilNodesRun(life, 'worker', workers);
  await available(life);
  await readyNodes(house, cluster, 3 + workers, patienceMs);
}

async function replaces({ house, cluster, workers }: Life, selector: string): Promise<void> {
  const listed = await house.kubectl('get', 'machines', '-l', selector, '-o', 'jsonpath={.items[*].metadata.name}');
  const [machine = ''] = listed.split(' ');
  const server = await house.kubectl('get', 'machine', machine, '-o', 'jsonpath={.spec.providerID}');
  await house.cloud.openstack.compute.servers.stop(server.replace(/^.*\//, ''));
  await eventually(async () => {
    const now = await house.kubectl('get', 'machines', '-o', 'jsonpath={.items[*].metadata.name}');
    expect(now.split(' ')).not.toContain(machine);
  }, patienceMs);
  await readyNodes(house, cluster, 3 + workers, patienceMs);
}

async function isScaled({ house, cluster, workers }: Life): Promise<void> {
  await house.kubectl('scale', `md/${cluster}-md-0`, '--replicas=3');
  await readyNodes(house, cluster, 3 + workers + 1, patienceMs);
  await house.kubectl('scale', `md/${cluster}-md-0`, '--replicas=1');
  await house.kubectl('scale', `kcp/${cluster}-control-plane`, '--replicas=1');
  await readyNodes(house, cluster, 1 + workers - 1, patienceMs);
  const found = await nodes(await house.workload(cluster));
  expect(found.filter(({ roles }) => roles.includes('control-plane'))).toHaveLength(1);
}

async function isDeleted({ house, cluster }: Life): Promise<void> {
  const on = ['--kubeconfig', house.capstan.kubeconfig];
  const outcome = await capstan(['delete', 'cluster', cluster, '--wait', '--timeout', '240s', ...on]);
  expect(outcome).toMatchObject({ code: 0 });
  expect(await house.cloud.inventory()).toEqual(house.before);
}

const deploymentSelector = ({ cluster }: Life): string => `cluster.x-k8s.io/deployment-name=${cluster}-md-0`;

async function apply({ house }: Life, name: string, text: string): Promise<void> {
  const path = join(house.capstan.directory, name);
  await writeFile(path, text);
  await house.kubectl('apply', '-f', path);
}

async function installNetworkPlugin({ house, cluster }: Life): Promise<void> {
  const path = join(house.capstan.directory, 'network-plugin.yaml');
  await writeFile(path, networkPlugin);
  await eventually(async () => {
    await (await house.workload(cluster))('apply', '-f', path);
  }, patienceMs);
}

async function available({ house, cluster }: Life): Promise<void> {
  const what = [`cluster/${cluster}`, `kcp/${cluster}-control-plane`];
  await house.kubectl('wait', '--for=condition=Available', ...what, `--timeout=${patienceMs / 1000}s`);
}

/** waits until this number of nodes of the role exists and all run the next version */
async function untilNodesRun({ house, cluster }: Life, role: 'control-plane' | 'worker', count: number): Promise<void> {
  const columns = 'jsonpath={range .items[*]}{.metadata.labels}|{.status.nodeInfo.kubeletVersion}{"\\n"}{end}';
  await eventually(async () => {
    const workload = await house.workload(cluster);
    const lines = (await workload('get', 'nodes', '-o', columns)).trimEnd().split('\n');
    const found = lines.filter(
      (line) => line.includes('node-role.kubernetes.io/control-plane') === (role === 'control-plane'),
    );
    expect(found.map((line) => line.split('|')[1])).toEqual(Array.from({ length: count }, () => versions.next));
  }, patienceMs);
}
