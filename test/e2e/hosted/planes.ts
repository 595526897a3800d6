import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type House, openHouse } from '../vm-cluster/house.ts';

type Kubectl = (...args: string[]) => Promise<string>;

/** A management API with Pods, and functions to inspect its hosted planes. */
export interface Planes {
  readonly house: House;
  readonly kubectl: Kubectl;
  /** directory of the planes' backups */
  readonly backups: string;
  /** value of an object by JSONPath without braces; empty if there is none */
  value(what: string, path: string): Promise<string>;
  /** lines of kubectl's output */
  lines(...args: string[]): Promise<string[]>;
  /** waits until the object has the value */
  untilValue(what: string, path: string, wanted: string): Promise<void>;
  /** names of the voting members of a plane's etcd, read from one of them */
  members(etcd: string, files: string): Promise<string[]>;
  /** kubectl with the current kubeconfig of a cluster */
  workload(cluster: string): Promise<Kubectl>;
  /** waits until the cluster has this number of nodes, all Ready */
  untilNodesReady(cluster: string, count: number): Promise<void>;
  /** uids of the Machines and Nodes of a cluster */
  identities(cluster: string): Promise<{ machines: string[]; nodes: string[] }>;
}

export const patienceMs = 120_000;

export async function openPlanes(): Promise<Planes> {
  const house = await openHouse(['--pods', 'simulated']);
  const { kubectl } = house;
  const lines = async (...args: string[]): Promise<string[]> =>
    (await kubectl(...args)).split('\n').filter((line) => line !== '');
  const value = (what: string, path: string): Promise<string> => kubectl('get', what, '-o', `jsonpath={${path}}`);
  const addressOf = async (host: string): Promise<string> => {
    const byIngress = `{.items[?(@.spec.rules[0].host=="${host}")].status.loadBalancer.ingress[0].ip}`;
    const found = await kubectl('get', 'ingresses', '-o', `jsonpath=${byIngress}`);
    return found || (await value('gateway/planes', '.status.addresses[0].value'));
  };
  /** There is no DNS for the names of Gateway and Ingress, so kubectl gets the address in addition to the name. */
  const workload = async (cluster: string): Promise<Kubectl> => {
    const run = await house.workload(cluster);
    const kubeconfig = await readFile(join(house.capstan.directory, `${cluster}.kubeconfig`), 'utf8');
    const { hostname, port } = new URL(/server: (\S+)/.exec(kubeconfig)?.[1] ?? '');
    if (!/[a-z]/.test(hostname)) return run;
    const address = await addressOf(hostname);
    return (...args) => run('--server', `https://${address}:${port || 443}`, '--tls-server-name', hostname, ...args);
  };
  return {
    house,
    kubectl,
    backups: join(house.capstan.directory, 'data', 'backups'),
    value,
    lines,
    untilValue: (what, path, wanted) =>
      eventually(async () => expect(await value(what, path), `${what} ${path}`).toBe(wanted), patienceMs),
    async members(etcd, files) {
      const command = ['etcdctl', 'member', 'list', '--endpoints=https://127.0.0.1:2379'];
      const credentials = [`--cacert=${files}/ca.crt`, `--cert=${files}/server.crt`, `--key=${files}/server.key`];
      const told = await lines('exec', `${etcd}-0`, '-c', 'etcd', '--', ...command, ...credentials);
      return told
        .map((line) => line.split(', '))
        .filter((fields) => fields.at(-1) === 'false')
        .map(([, , name = '']) => name)
        .sort();
    },
    workload,
    untilNodesReady: (cluster, count) =>
      eventually(async () => {
        const text = await (await workload(cluster))('get', 'nodes', '--no-headers');
        const states = text
          .trimEnd()
          .split('\n')
          .map((line) => line.split(/\s+/)[1]);
        expect(states).toEqual(Array.from({ length: count }, () => 'Ready'));
      }, patienceMs),
    async identities(cluster) {
      const uids = 'jsonpath={range .items[*]}{.metadata.uid}{"\\n"}{end}';
      const selector = `cluster.x-k8s.io/cluster-name=${cluster}`;
      return {
        machines: (await lines('get', 'machines', '-l', selector, '-o', uids)).sort(),
        nodes: (await (await workload(cluster))('get', 'nodes', '-o', uids)).trimEnd().split('\n').sort(),
      };
    },
  };
}

/** Writes a manifest into the test's directory and applies it. */
export async function applyText({ house, kubectl }: Planes, name: string, text: string): Promise<void> {
  const path = join(house.capstan.directory, name);
  await writeFile(path, text);
  await kubectl('apply', '-f', path);
}

/** Returns an example under another name, with one worker, and exposed by an Ingress instead of a load balancer. */
export async function behindIngress(example: string, name: string): Promise<string> {
  const host = `api.${name}.localhost`;
  return (await readFile(`examples/${example}/cluster.yaml`, 'utf8'))
    .replaceAll(example, name)
    .replace(/(kind: MachineDeployment\n(?:.*\n)*? {2}replicas:) 2/, '$1 1')
    .replace(/cidr: 10\.(\d+)\./, 'cidr: 10.2$1.')
    .replaceAll('v1.32.6', 'v1.34.2')
    .replace(
      / {2}service:\n {4}type: LoadBalancer\n(?: {4}.*\n)*/,
      `  service:\n    type: ClusterIP\n  ingress:\n    apiHost: ${host}\n    konnectivityHost: konnectivity.${name}.localhost\n`,
    )
    .replace('serviceType: LoadBalancer', `serviceType: ClusterIP\n    ingress:\n      hostname: ${host}`);
}
