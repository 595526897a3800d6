import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { type CapstanProcess, startCapstan, startCloudApart } from './capstan.ts';
import { type CloudInventory, type CloudView, viewCloud } from './cloud-view.ts';
import { capstanOk } from './command.ts';
import { kubectlApply, kubectlOn } from './kubectl.ts';

export interface ClusterName {
  readonly namespace: string;
  readonly name: string;
}

/** A management API with Pods and a simulated cloud, as in guides to hosted control planes. */
export interface HostedBench {
  readonly capstan: CapstanProcess;
  readonly cloud: CloudView;
  /** resources of the project before the test */
  readonly before: CloudInventory;
  /** the reader's clouds.yaml: one project, the cloud `openstack` */
  readonly cloudsYaml: string;
  /** runs kubectl on the management API; must succeed */
  kubectl(...args: string[]): Promise<string>;
  /** runs `kubectl apply` on the management API; must succeed */
  apply(manifest: string): Promise<string>;
  /** runs a capstan command on the management API; must succeed */
  verb(...args: string[]): Promise<string>;
  /** access with `capstan get kubeconfig`; rejects if there is no kubeconfig */
  workload(cluster: ClusterName): Promise<WorkloadCluster>;
  stop(): Promise<void>;
}

/** A workload cluster, accessed with its kubeconfig. */
export interface WorkloadCluster {
  /** must succeed */
  kubectl(...args: string[]): Promise<string>;
  apply(manifest: string): Promise<string>;
}

/** All steps of machines are taken, in a fraction of the time. */
const timeScale = 0.05;

export interface HostedBenchOptions {
  /** run the cloud as `capstan cloud` in a separate process */
  readonly cloudApart?: boolean;
  /** additional arguments of `capstan up` */
  readonly args?: readonly string[];
}

export async function openHostedBench({
  cloudApart = false,
  args = [],
}: HostedBenchOptions = {}): Promise<HostedBench> {
  const capstan = await startCapstan({
    args: [...(cloudApart ? [] : ['--simulated-cloud']), ...args],
    controllers: 'all',
    pods: 'simulated',
  });
  const { directory, kubeconfig } = capstan;
  const apart = cloudApart ? await startCloudApart(join(directory, 'hardened')) : undefined;
  const cloudDirectory = apart?.directory ?? join(directory, 'data');
  const clouds = await readFile(join(cloudDirectory, 'clouds.yaml'), 'utf8');
  const cloud = await viewCloud({
    cloudsYaml: join(cloudDirectory, 'clouds.yaml'),
    url: clouds.match(/auth_url: (\S+)\/identity\/v3/)?.[1] ?? '',
    adminToken: await readFile(join(cloudDirectory, 'cloud', 'admin-token'), 'utf8'),
  });
  await cloud.operate('PATCH', '/timings', { timeScale });
  const cloudsYaml = join(directory, 'clouds.yaml');
  await writeFile(cloudsYaml, onlyMember(clouds));
  const verb = (...args: string[]): Promise<string> => capstanOk([...args, '--kubeconfig', kubeconfig]);
  const opened = new Map<string, WorkloadCluster>();
  return {
    capstan,
    cloud,
    cloudsYaml,
    before: await cloud.inventory(),
    kubectl: kubectlOn(kubeconfig, directory),
    apply: (manifest) => kubectlApply(kubeconfig, directory, manifest),
    verb,
    workload: async ({ namespace, name }) => {
      const file = join(directory, `${namespace}-${name}.kubeconfig`);
      const known = opened.get(file);
      if (known) return known;
      await writeFile(file, await verb('get', 'kubeconfig', name, '-n', namespace), { mode: 0o600 });
      const found: WorkloadCluster = {
        kubectl: kubectlOn(file, directory),
        apply: (manifest) => kubectlApply(file, directory, manifest),
      };
      opened.set(file, found);
      return found;
    },
    stop: async () => {
      await cloud.close();
      await apart?.stop();
      await capstan.stop();
    },
  };
}

/** Guides use the credentials of one project. */
function onlyMember(text: string): string {
  const { clouds } = parse(text) as { clouds: Record<string, unknown> };
  return stringify({ clouds: { openstack: clouds['openstack'] } });
}
