import { join } from 'node:path';
import { must } from '../machinery/index.ts';
import type { Logger } from '../runtime/index.ts';
import { adminPrefix, createAdminApi } from './admin/api.ts';
import { createOperator, type Operator } from './admin/operator.ts';
import type { CatalogEntry } from './core/catalog.ts';
import { type Core, type CoreOptions, createCore } from './core/core.ts';
import { createDispatcher, type Dispatcher } from './core/http/dispatch.ts';
import { createGateway, proxyAnswer } from './core/http/gateway.ts';
import { type CloudListener, type ListenOptions, listen } from './core/http/listener.ts';
import type { Transport } from './core/http/wire.ts';
import type { Room } from './core/room.ts';
import type { ServiceDefinition } from './core/service.ts';
import { stableId } from './core/stable-id.ts';
import { type Journal, loadState, startJournal } from './core/state/journal.ts';
import { createMachineHost, type Machines } from './machines/host/machine-host.ts';
import type { CniRule } from './machines/kubernetes/options.ts';
import type { Outside } from './machines/network/dial.ts';
import { UnreachableError } from './machines/network/unreachable.ts';
import { silentLog } from './machines/silent-log.ts';
import type { CloudTransport, SimulatedNetwork, Software, SoftwareBase } from './machines/types.ts';
import { rooms } from './rooms.ts';
import type { HeldRanges } from './world/loopback.ts';
import { type CloudSecrets, loadSecrets, saveSecrets } from './world/secrets.ts';
import { seedWorld } from './world/seed.ts';
import type { World } from './world/world.ts';

/** Servers that boot. */
export interface MachinesOptions {
  /** what is installed on them; absent: what Kubernetes nodes need */
  readonly software?: (base: SoftwareBase) => Software;
  /** whether Pods find a network without a CNI being installed; builtin */
  readonly cni?: CniRule;
  /** floating addresses and load balancers in 127.0.0.0/8 are reachable over real sockets; off by default */
  readonly sockets?: boolean;
  /** what machines find beyond the cloud, by name or address; nothing by default */
  readonly outside?: Outside;
  /** how programs on machines reach the cloud's own API; by default without sockets, whatever address they name */
  readonly cloudTransport?: CloudTransport;
  /** programs of container images that only whoever builds the cloud knows */
  readonly programs?: SoftwareBase['programs'];
  readonly log?: Logger;
}

export interface CloudOptions extends CoreOptions {
  /** makes servers boot; without it they are ACTIVE and silent */
  readonly machines?: MachinesOptions;
  /** services the cloud does not have, by type: `load-balancer`, `volumev3` */
  readonly without?: readonly string[];
  /** what links and the catalogue show, when it is not the address the client used */
  readonly publicUrl?: string;
  /**
   * what a new cloud has in it; nothing by default. Where machines have sockets, an external network 127.N.0.0/16 that another
   * program on this computer holds becomes the next that is free
   */
  readonly world?: World;
  /** password of the cloud's administrator, `admin` in project `admin` of domain `Default`; made up when absent */
  readonly adminPassword?: string;
  /** where the cloud is kept; absent: in memory only */
  readonly directory?: string;
}

/** A whole OpenStack in this process. */
export interface SimulatedCloud {
  readonly core: Core;
  /** sends a request as over HTTP, without a socket */
  readonly transport: Transport;
  /** how to get in: the administrator, the users of the world, the token of the admin API */
  readonly secrets: CloudSecrets;
  /** what operators do to clouds, and faults on demand; the same as the admin API offers */
  readonly operator: Operator;
  /** the machines behind the servers, when they boot */
  readonly machines: Machines | undefined;
  /** ways to what the machines serve; where nothing boots nothing answers */
  readonly network: SimulatedNetwork;
  listen(options: ListenOptions): Promise<CloudListener>;
  /** stops listening and all that waits; a kept cloud goes on from here when it is opened again */
  close(): Promise<void>;
}

/** Builds a cloud, or opens the one kept in `directory`. */
export async function createCloud(options: CloudOptions): Promise<SimulatedCloud> {
  const core = createCore(options);
  // The machines need the cloud's API, which is built with them.
  let own: Transport | undefined;
  const cloudTransport: CloudTransport = () => (request) => must(own, 'own')(request);
  const machines =
    options.machines && (await startMachines(core, { cloudTransport, ...options.machines }, options.directory));
  const services = buildServices(core, rooms, options.without ?? []);
  const dispatcher = createDispatcher({
    core,
    services,
    // Glance's links to the next page begin at the version; taken literally they lose the service's root.
    strays: { '/v2/images': '/image', '/v2/schemas': '/image' },
    publicUrl: () => options.publicUrl,
  });
  const { secrets, journal, release } = await open(core, dispatcher, options);
  const operator = createOperator(core, dispatcher);
  const admin = createAdminApi(operator, secrets.adminToken);
  const transport = createGateway({
    core,
    dispatcher,
    ...(journal && { committed: () => journal.committed() }),
    elsewhere: (request, path) => (path.startsWith(adminPrefix) ? admin(request, path) : proxyAnswer(404, 'Not Found')),
  });
  own = transport;
  const listeners = new Set<CloudListener>();
  return {
    core,
    transport: (request) => (request.signal?.aborted ? Promise.reject(request.signal.reason) : transport(request)),
    secrets,
    operator,
    machines,
    network: machines?.network ?? emptyNetwork,
    async listen(listenOptions) {
      const listener = await listen(transport, listenOptions);
      listeners.add(listener);
      return listener;
    },
    async close() {
      await Promise.all([...listeners].map((listener) => listener.close()));
      core.jobs.stop();
      await machines?.close();
      await journal?.close();
      await release();
    },
  };
}

const emptyNetwork: SimulatedNetwork = {
  dial: (address, port) => {
    throw new UnreachableError('EHOSTUNREACH', address, port);
  },
};

async function startMachines(
  core: Core,
  options: MachinesOptions & { readonly cloudTransport: CloudTransport },
  directory: string | undefined,
): Promise<Machines> {
  const { sockets = false, log = silentLog, outside, cloudTransport } = options;
  const build = options.software ?? (await kubernetesSoftware(options.cni));
  const software = build({
    clock: core.clock,
    random: core.random,
    timings: core.timings,
    ...(directory !== undefined && { directory: join(directory, 'machines') }),
    sockets,
    log,
    cloudTransport,
    ...(options.programs && { programs: options.programs }),
  });
  const machines = createMachineHost({ core, software, sockets, log, ...(outside && { outside }) });
  core.useMachineHost(machines);
  return machines;
}

interface Opened {
  readonly secrets: CloudSecrets;
  readonly journal: Journal | undefined;
  /** Gives back what only one program at a time can have. */
  release(): Promise<void>;
}

/** Gives the cloud its state: what is kept in its directory, or what a new cloud begins with. */
async function open(core: Core, dispatcher: Dispatcher, options: CloudOptions): Promise<Opened> {
  const { directory } = options;
  const lock = directory === undefined ? undefined : await take(directory);
  let ranges: HeldRanges | undefined;
  const release = async (): Promise<void> => {
    await ranges?.release();
    await lock?.release();
  };
  try {
    const isKept = directory !== undefined && (await loadState(directory, core.state));
    let { world = {} } = options;
    if (options.machines?.sockets) {
      // Loaded only here: without sockets nobody else on the computer can be in the way.
      const { holdRanges, settleWorld } = await import('./world/loopback.ts');
      const { log = silentLog } = options.machines;
      if (isKept) ranges = await holdRanges(cidrsOf(core), log);
      else ({ world, ...ranges } = await settleWorld(world, log));
    }
    if (directory === undefined) {
      return { secrets: ensureExists(core, dispatcher, options, world), journal: undefined, release };
    }
    const secrets = isKept ? await loadSecrets(directory) : ensureExists(core, dispatcher, options, world);
    if (isKept) core.jobs.resume();
    // A new cloud counts as made when its first file has its name; until then the secrets may be overwritten.
    else await saveSecrets(directory, secrets);
    const journal = await startJournal(directory, core.state);
    if (isKept) for (const work of core.returns) work();
    return { secrets, journal, release };
  } catch (error) {
    core.jobs.stop();
    await release();
    throw error;
  }
}

function cidrsOf({ services }: Core): string[] {
  return services.network.externalSubnets().map(({ cidr }) => cidr);
}

/** Loaded only here: a cloud whose servers are rows has no use for an API server. */
async function kubernetesSoftware(cni: CniRule | undefined): Promise<(base: SoftwareBase) => Software> {
  const { createKubernetesSoftware } = await import('./machines/kubernetes/index.ts');
  return (base) => createKubernetesSoftware({ ...base, ...(cni !== undefined && { cni }) });
}

/** One cloud at a time in a directory. */
async function take(directory: string): Promise<{ release(): Promise<void> }> {
  // Loaded only here: a cloud in memory has no use for the store and its native parts.
  const { lockDirectory } = await import('../store/index.ts');
  return lockDirectory(directory);
}

/** The first moments of a new cloud: its administrator, what every service begins with, then its world. */
function ensureExists(core: Core, dispatcher: Dispatcher, options: CloudOptions, world: World): CloudSecrets {
  const adminPassword = options.adminPassword ?? core.ids.secret(24);
  core.state.transact(() => {
    core.services.identity.bootstrap(adminPassword);
    for (const work of core.birth) work();
  });
  const seeded = seedWorld(core, dispatcher, adminPassword, world);
  return { adminPassword, adminToken: core.ids.secret(40), ...seeded };
}

function buildServices(core: Core, all: readonly Room[], without: readonly string[]): ServiceDefinition[] {
  // Every room is built: the others rely on what it provides, whether or not clients can reach it.
  const services = all.map((room) => room(core)).filter(({ type }) => !without.includes(type));
  for (const service of services) core.catalog.push(catalogEntry(service));
  return services;
}

/** Ids that follow from the names: the catalogue is the same after a restart, without being kept. */
function catalogEntry({ type, name, root, catalogPath }: ServiceDefinition): CatalogEntry {
  const id = (what: string): string => stableId(`${type} ${what}`);
  const endpointIds = { public: id('public'), internal: id('internal'), admin: id('admin') };
  return { id: id('service'), type, name, root, path: catalogPath, endpointIds };
}
