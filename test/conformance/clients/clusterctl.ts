import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { viewCloud } from '../../support/cloud-view.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectlOn } from '../../support/kubectl.ts';
import { findOrBuildGoProgram } from '../go-build.ts';
import type { Client, Scenario, Stage } from './client.ts';
import { expectThat, succeed } from './run.ts';

const version = 'v1.13.6';
const manifest = fileURLToPath(new URL('../../../examples/vm-cluster/cluster.yaml', import.meta.url));
/** All steps of machines are taken, in a fraction of the time. */
const timeScale = 0.05;
const clusterMs = 240_000;

export const clusterctl: Client = {
  name: 'clusterctl',
  needs: 'clusters',
  async prepare(say) {
    const program = await findOrBuildGoProgram(
      {
        name: 'clusterctl',
        module: 'sigs.k8s.io/cluster-api',
        version,
        folder: 'cmd/clusterctl',
        // clusterctl requires a version of its own.
        variables: { 'sigs.k8s.io/cluster-api/version.gitVersion': version },
      },
      process.env,
      say,
    );
    return (stage) => scenarios(program, stage);
  },
};

function scenarios(program: string, stage: Stage): Scenario[] {
  const { capstan, directory, kubectl } = stage;
  const env = { KUBECONFIG: capstan.kubeconfig, HOME: directory, CLUSTERCTL_DISABLE_VERSIONCHECK: 'true' };
  const run = (...args: string[]): Promise<string> => succeed(program, args, env);
  const workloadFile = join(directory, 'workload.kubeconfig');
  const machines = (on: Stage['kubectl'], field: string): Promise<string> =>
    on('get', 'machines', '-o', `jsonpath={range .items[*]}{${field}} {end}`);
  const nodesReady = async (): Promise<void> => {
    const nodes = await kubectlOn(workloadFile, directory)('get', 'nodes', '--no-headers');
    const ready = nodes.split('\n').filter((line) => /\sReady\s/.test(line));
    expectThat(ready.length === 3, 'three Ready nodes', nodes);
  };
  return [
    {
      name: 'get kubeconfig of a cluster on the simulated cloud, whose nodes are Ready',
      async run() {
        await hurry(capstan.directory);
        await kubectl('apply', '-f', manifest);
        await eventually(async () => {
          await writeFile(workloadFile, await run('get', 'kubeconfig', 'vm-cluster'), { mode: 0o600 });
          await nodesReady();
        }, clusterMs);
      },
    },
    {
      name: 'describe cluster: the tree is there, and everything in it is available',
      async run() {
        await eventually(async () => {
          const tree = await run('describe', 'cluster', 'vm-cluster', '--grouping=false');
          for (const line of ['Cluster/vm-cluster', 'OpenStackCluster', 'KubeadmControlPlane', 'MachineDeployment']) {
            expectThat(tree.includes(line), line, tree);
          }
          const cluster = tree.split('\n').find((line) => line.includes('Cluster/vm-cluster')) ?? '';
          expectThat(/True\s+Available/.test(cluster), 'a cluster that is available', tree);
        }, clusterMs);
      },
    },
    {
      name: 'alpha rollout restart of the workers: all are replaced',
      async run() {
        const before = await machines(kubectl, '.metadata.name');
        const [deployment = ''] = (await kubectl('get', 'machinedeployments', '-o', 'name')).split('\n');
        const name = deployment.split('/').at(-1)!;
        await run('alpha', 'rollout', 'restart', `machinedeployment/${name}`);
        await eventually(async () => {
          const workers = await kubectl(
            ...['get', 'machines', '-l', '!cluster.x-k8s.io/control-plane'],
            ...['-o', 'jsonpath={range .items[*]}{.metadata.name}={.status.phase} {end}'],
          );
          const found = workers.trim().split(' ');
          const isReplaced = found.length === 2 && found.every((one) => !before.includes(one.split('=')[0]!));
          expectThat(isReplaced && found.every((one) => one.endsWith('=Running')), 'two other machines', workers);
          await nodesReady();
        }, clusterMs);
      },
    },
    {
      name: 'alpha rollout pause and resume',
      async run() {
        const [deployment = ''] = (await kubectl('get', 'machinedeployments', '-o', 'name')).split('\n');
        const name = deployment.split('/').at(-1)!;
        const paused = (): Promise<string> => kubectl('get', deployment, '-o', 'jsonpath={.spec.paused}');
        await run('alpha', 'rollout', 'pause', `machinedeployment/${name}`);
        expectThat((await paused()) === 'true', 'true', await paused());
        await run('alpha', 'rollout', 'resume', `machinedeployment/${name}`);
        expectThat((await paused()) !== 'true', 'not true', await paused());
      },
    },
    {
      name: 'move to another management API: the same machines, nothing left behind',
      async run() {
        const target = await stage.another();
        await kubectl('label', 'secret', 'simulated-cloud', 'clusterctl.cluster.x-k8s.io/move=true', '--overwrite');
        const before = (await machines(kubectl, '.spec.providerID')).trim().split(' ').sort().join(' ');
        await run('move', '--to-kubeconfig', target.capstan.kubeconfig, '--namespace', 'default');
        const left = await kubectl('get', 'clusters,machines,openstackmachines,kubeadmcontrolplanes', '-o', 'name');
        expectThat(left === '', 'nothing', left);
        const after = (await machines(target.kubectl, '.spec.providerID')).trim().split(' ').sort().join(' ');
        expectThat(after === before, before, after);
        const available = '--for=condition=Available';
        await target.kubectl('wait', 'cluster', 'vm-cluster', available, `--timeout=${clusterMs / 1000}s`);
        await nodesReady();
      },
    },
    {
      name: 'the cluster is changed from there: a worker more, and deleted in the end',
      async run() {
        const target = await stage.another();
        const [deployment = ''] = (await target.kubectl('get', 'machinedeployments', '-o', 'name')).split('\n');
        await target.kubectl('scale', deployment, '--replicas=3');
        await eventually(async () => {
          const nodes = await kubectlOn(workloadFile, directory)('get', 'nodes', '--no-headers');
          const ready = nodes.split('\n').filter((line) => /\sReady\s/.test(line));
          expectThat(ready.length === 4, 'four Ready nodes', nodes);
        }, clusterMs);
        await target.kubectl('delete', 'cluster', 'vm-cluster', `--timeout=${clusterMs / 1000}s`);
      },
    },
  ];
}

async function hurry(directory: string): Promise<void> {
  const data = join(directory, 'data');
  const cloudsYaml = join(data, 'clouds.yaml');
  const url = (await readFile(cloudsYaml, 'utf8')).match(/auth_url: (\S+)\/identity\/v3/)?.[1] ?? '';
  const adminToken = await readFile(join(data, 'cloud', 'admin-token'), 'utf8');
  const cloud = await viewCloud({ cloudsYaml, url, adminToken });
  await cloud.operate('PATCH', '/timings', { timeScale });
  await cloud.close();
}
