import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { type CloudInventory, type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { capstanOk } from '../../support/command.ts';
import { kubectl } from '../../support/kubectl.ts';
import { describeOutcome } from '../../support/process.ts';
import { kubectlOn } from '../vm-cluster/house.ts';

/** A management API whose Pods run, with its simulated cloud, as a reader of the guide finds theirs. */
export interface Workbench {
  readonly capstan: CapstanProcess;
  readonly cloud: CloudView;
  readonly before: CloudInventory;
  /** the clouds.yaml of the reader */
  readonly cloudsYaml: string;
  /** kubectl on the management API; must succeed */
  kubectl(...args: string[]): Promise<string>;
  /** the documents of the guide's manifest, in the order given */
  apply(order: (documents: readonly string[]) => readonly string[]): Promise<void>;
  /** writes the kubeconfig of the cluster as the guide does, and runs kubectl with it */
  workload(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

const timeScale = 0.05;

export async function openWorkbench(): Promise<Workbench> {
  const capstan = await startCapstan({ args: ['--simulated-cloud'], controllers: 'all', pods: 'simulated' });
  const { directory, kubeconfig } = capstan;
  const clouds = await readFile(join(directory, 'data', 'clouds.yaml'), 'utf8');
  const cloud = await viewCloud({
    cloudsYaml: join(directory, 'data', 'clouds.yaml'),
    url: clouds.match(/auth_url: (\S+)\/identity\/v3/)?.[1] ?? '',
    adminToken: await readFile(join(directory, 'data', 'cloud', 'admin-token'), 'utf8'),
  });
  await cloud.operate('PATCH', '/timings', { timeScale });
  const cloudsYaml = join(directory, 'clouds.yaml');
  await writeFile(cloudsYaml, onlyMember(clouds));
  const run = kubectlOn(kubeconfig, directory);
  const workloadFile = join(directory, 'workload-cluster.kubeconfig');
  return {
    capstan,
    cloud,
    cloudsYaml,
    before: await cloud.inventory(),
    kubectl: run,
    apply: async (order) => {
      const manifest = await readFile(new URL('testdata/openstack-hcp-cluster.yaml', import.meta.url), 'utf8');
      const input = order(manifest.split('\n---\n')).join('\n---\n');
      const outcome = await kubectl(['apply', '-f', '-'], { kubeconfig, directory, input });
      if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
    },
    workload: async (...args) => {
      const command = ['-n', 'hcp-system', 'get', 'kubeconfig', 'openstack-hcp-cluster', '--kubeconfig', kubeconfig];
      await writeFile(workloadFile, await capstanOk(command), { mode: 0o600 });
      return await kubectlOn(workloadFile, directory)(...args);
    },
    stop: async () => {
      await cloud.close();
      await capstan.stop();
    },
  };
}

/** The guide's credentials are those of one project. */
function onlyMember(text: string): string {
  const { clouds } = parse(text) as { clouds: Record<string, unknown> };
  return stringify({ clouds: { openstack: clouds['openstack'] } });
}
