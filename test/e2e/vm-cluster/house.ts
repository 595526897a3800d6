import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { type CloudInventory, type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectlOn } from '../../support/kubectl.ts';

/** A management API and its simulated cloud in one process. */
export interface House {
  readonly capstan: CapstanProcess;
  readonly cloud: CloudView;
  /** resources of the project before the test */
  readonly before: CloudInventory;
  /** runs kubectl on the management API; must succeed */
  kubectl(...args: string[]): Promise<string>;
  /** returns kubectl for a workload cluster; must succeed */
  workload(cluster: string): Promise<(...args: string[]) => Promise<string>>;
  stop(): Promise<void>;
}

/** All steps of machines are taken, in a fraction of the time. */
const timeScale = 0.05;

export async function openHouse(args: readonly string[] = []): Promise<House> {
  const capstan = await startCapstan({ args: ['--simulated-cloud', ...args], controllers: 'all' });
  const data = join(capstan.directory, 'data');
  const url = (await readFile(join(data, 'clouds.yaml'), 'utf8')).match(/auth_url: (\S+)\/identity\/v3/)?.[1] ?? '';
  const cloud = await viewCloud({
    cloudsYaml: join(data, 'clouds.yaml'),
    url,
    adminToken: await readFile(join(data, 'cloud', 'admin-token'), 'utf8'),
  });
  await cloud.operate('PATCH', '/timings', { timeScale });
  const run = kubectlOn(capstan.kubeconfig, capstan.directory);
  return {
    capstan,
    cloud,
    before: await cloud.inventory(),
    kubectl: run,
    workload: async (cluster) => {
      const file = join(capstan.directory, `${cluster}.kubeconfig`);
      const encoded = await run('get', 'secret', `${cluster}-kubeconfig`, '-o', 'jsonpath={.data.value}');
      await writeFile(file, Buffer.from(encoded, 'base64'), { mode: 0o600 });
      return kubectlOn(file, capstan.directory);
    },
    stop: async () => {
      await cloud.close();
      await capstan.stop();
    },
  };
}

/** Returns the nodes of a workload cluster, from `name status roles`. */
export async function nodes(workload: (...args: string[]) => Promise<string>): Promise<NodeLine[]> {
  const text = await workload('get', 'nodes', '--no-headers');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', status = '', roles = ''] = line.split(/\s+/);
      return { name, status, roles };
    });
}

export interface NodeLine {
  name: string;
  status: string;
  roles: string;
}

/** Waits until a workload cluster has this number of nodes, all Ready. */
export async function readyNodes(
  house: House,
  cluster: string,
  count: number,
  timeoutMs = 90_000,
): Promise<NodeLine[]> {
  let found: NodeLine[] = [];
  await eventually(async () => {
    found = await nodes(await house.workload(cluster));
    const ready = found.filter(({ status }) => status === 'Ready');
    if (found.length !== count || ready.length !== count) {
      throw new Error(`expected ${count} Ready nodes of ${cluster}, found ${JSON.stringify(found)}`);
    }
  }, timeoutMs);
  return found;
}
