import { homedir } from 'node:os';
import { Agent, fetch } from 'undici';
import { connect, type FloatingIp, loadClouds, type OpenStack } from '../../src/openstack/index.ts';

/** Resources of a project, by name. */
export interface CloudInventory {
  servers: string[];
  networks: string[];
  subnets: string[];
  routers: string[];
  securityGroups: string[];
  ports: number;
  floatingIps: FloatingIp[];
  volumes: number;
  loadBalancers: string[];
}

/** A project of a cloud, seen by a member, with operator access to a simulated cloud. */
export interface CloudView {
  readonly openstack: OpenStack;
  inventory(): Promise<CloudInventory>;
  /** sends a request to the operator API of a simulated cloud */
  operate(method: string, path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export async function viewCloud(options: {
  cloudsYaml: string;
  cloud?: string;
  /** URL of the operator API */
  url: string;
  adminToken: string;
  /** PEM CA of a cloud over HTTPS */
  authority?: string;
}): Promise<CloudView> {
  const clouds = await loadClouds({
    env: { OS_CLIENT_CONFIG_FILE: options.cloudsYaml },
    cwd: process.cwd(),
    home: homedir(),
  });
  const dispatcher = new Agent(options.authority === undefined ? {} : { connect: { ca: options.authority } });
  const openstack = connect(await clouds.cloud(options.cloud ?? 'openstack'));
  const names = async (list: AsyncIterable<{ name: string }>): Promise<string[]> => {
    const found: string[] = [];
    for await (const { name } of list) found.push(name);
    return found.sort();
  };
  const all = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
    const found: T[] = [];
    for await (const item of list) found.push(item);
    return found;
  };
  return {
    openstack,
    async inventory() {
      const { compute, network, volume, loadBalancer } = openstack;
      const own = await openstack.projectId();
      return {
        servers: await names(compute.servers.list()),
        networks: await names(network.networks.list({ projectId: own })),
        subnets: await names(network.subnets.list({ projectId: own })),
        routers: await names(network.routers.list({ projectId: own })),
        securityGroups: await names(network.securityGroups.list({ projectId: own })),
        ports: (await all(network.ports.list({ projectId: own }))).length,
        floatingIps: await all(network.floatingIps.list({ projectId: own })),
        volumes: (await all(volume.volumes.list())).length,
        loadBalancers: await names(loadBalancer.loadBalancers.list()),
      };
    },
    async operate(method, path, body) {
      const response = await fetch(`${options.url}/_admin${path}`, {
        method,
        dispatcher,
        headers: { 'x-admin-token': options.adminToken, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} /_admin${path}: ${response.status} ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    },
    close: async () => {
      await openstack.close();
      await dispatcher.close();
    },
  };
}
