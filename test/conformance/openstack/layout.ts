import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheDirectory } from '../go-build.ts';

/** All daemons listen only on this address. */
export const loopback = '127.0.0.1';
export const region = 'RegionOne';

/** Services with a port. */
export const listeners = [
  'identity',
  'placement',
  'image',
  'network',
  'compute',
  'volume',
  'loadBalancer',
  'messages',
  'messagesNode',
  'messagesNames',
  'tokenCache',
  'amphoraHeartbeats',
] as const;
export type Listener = (typeof listeners)[number];

/** A host of the fake hypervisor and its availability zone. */
export interface ComputeHost {
  readonly name: string;
  /** `nova` is the zone of hosts without one */
  readonly zone: string;
}

/** Paths of a real cloud, and settings chosen at its first start. */
export interface Layout {
  readonly directory: string;
  readonly settings: string;
  readonly logs: string;
  readonly processes: string;
  readonly data: string;
  /** Python modules loaded by the daemons */
  readonly python: string;
  readonly databaseSocket: string;
  readonly cloudsYaml: string;
  /** the same password for all accounts, because this cloud protects nothing */
  readonly password: string;
  readonly ports: Readonly<Record<Listener, number>>;
  readonly hosts: readonly ComputeHost[];
}

type Environment = Readonly<Record<string, string | undefined>>;

const defaultHosts = 'host-1:nova host-2:nova host-3:az2 host-4:az3';

/** Returns CAPSTAN_REAL_OPENSTACK_DIR, or a directory below the user's cache directory. */
export function stateDirectory(env: Environment): string {
  return env['CAPSTAN_REAL_OPENSTACK_DIR'] || join(cacheDirectory(env), 'openstack');
}

/** Reads the layout of an existing cloud, or returns undefined. */
export async function readLayout(env: Environment): Promise<Layout | undefined> {
  const directory = stateDirectory(env);
  try {
    const chosen = JSON.parse(await readFile(choicesFile(directory), 'utf8')) as Choices;
    return layoutOf(directory, chosen);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the layout of the cloud in the state directory. Ports and password are chosen once and then kept. */
export async function prepareLayout(env: Environment): Promise<Layout> {
  const directory = stateDirectory(env);
  let layout = await readLayout(env);
  if (!layout) {
    await mkdir(directory, { recursive: true });
    await chmod(directory, 0o700);
    const ports = await freePorts(listeners.length);
    const chosen: Choices = {
      password: randomBytes(16).toString('hex'),
      ports: Object.fromEntries(listeners.map((name, index) => [name, ports[index]!])) as Record<Listener, number>,
      hosts: parseHosts(env['CAPSTAN_REAL_OPENSTACK_HOSTS'] || defaultHosts),
    };
    await writeFile(choicesFile(directory), `${JSON.stringify(chosen, undefined, 2)}\n`, { mode: 0o600 });
    layout = layoutOf(directory, chosen);
  }
  for (const needed of [layout.settings, layout.logs, layout.processes, layout.data]) {
    await mkdir(needed, { recursive: true });
  }
  return layout;
}

/** Returns the base URL of a service, without a version. */
export function baseUrl(layout: Layout, listener: Listener): string {
  return `http://${loopback}:${layout.ports[listener]}`;
}

/** Parses `name:zone` pairs, separated by blanks. */
export function parseHosts(text: string): ComputeHost[] {
  const hosts = text
    .split(/\s+/)
    .filter(Boolean)
    .map((pair) => {
      const [name, zone, ...rest] = pair.split(':');
      if (!name || !zone || rest.length > 0) {
        throw new Error(`CAPSTAN_REAL_OPENSTACK_HOSTS: "${pair}" is not of the form host:zone`);
      }
      return { name, zone };
    });
  if (hosts.length === 0) throw new Error('CAPSTAN_REAL_OPENSTACK_HOSTS names no host');
  return hosts;
}

interface Choices {
  password: string;
  ports: Record<Listener, number>;
  hosts: ComputeHost[];
}

function choicesFile(directory: string): string {
  return join(directory, 'choices.json');
}

function layoutOf(directory: string, { password, ports, hosts }: Choices): Layout {
  const processes = join(directory, 'processes');
  return {
    directory,
    settings: join(directory, 'settings'),
    logs: join(directory, 'logs'),
    processes,
    data: join(directory, 'data'),
    python: fileURLToPath(new URL('./python', import.meta.url)),
    databaseSocket: join(processes, 'database.sock'),
    cloudsYaml: join(directory, 'clouds.yaml'),
    password,
    ports,
    hosts,
  };
}

/** Returns free ports, because the daemons cannot choose and report their own. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, () => {
      const server = createServer();
      return new Promise<typeof server>((resolve, reject) => {
        server.once('error', reject);
        server.listen(0, loopback, () => resolve(server));
      });
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
