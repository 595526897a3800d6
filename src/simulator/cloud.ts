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

/** Options for servers that boot. */
export interface MachinesOptions {
  /** software installed on the machines; default: the software of a Kubernetes node */
  readonly software?: (base: SoftwareBase) => Software;
  /** whether Pods get a network without an installed CNI; default: builtin */
  readonly cni?: CniRule;
  /** makes floating IPs and load balancers in 127.0.0.0/8 reachable over real sockets; default: off */
  readonly sockets?: boolean;
  /** hosts outside the cloud that machines can reach, by name or address; default: none */
  readonly outside?: Outside;
  /** how programs on machines reach the cloud's own API; without sockets the default ignores the address they name */
  readonly cloudTransport?: CloudTransport;
  /** additional programs of container images */
  readonly programs?: SoftwareBase['programs'];
  readonly log?: Logger;
}

export interface CloudOptions extends CoreOptions {
  /** makes servers boot; without it servers become ACTIVE but run nothing */
  readonly machines?: MachinesOptions;
  /** service types the cloud does not offer, for example `load-balancer` or `volumev3` */
  readonly without?: readonly string[];
  /** base URL in links and the catalogue; default: the address the client used */
  readonly publicUrl?: string;
  /**
   * initial contents of a new cloud; default: empty. With sockets, an external network 127.N.0.0/16 that another
   * program on this computer holds is replaced by the next free one
   */
  readonly world?: World;
  /** password of the cloud's administrator, `admin` in project `admin` of domain `Default`; default: random */
  readonly adminPassword?: string;
  /** directory of the persisted cloud; without it the cloud exists in memory only */
  readonly directory?: string;
}

/** A complete OpenStack cloud in this process. */
export interface SimulatedCloud {
  readonly core: Core;
  /** sends a request as HTTP would, but without a socket */
  readonly transport: Transport;
  /** credentials: the administrator, the users of the world, the token of the operator API */
  readonly secrets: CloudSecrets;
  /** operator actions and fault injection, the same as over the operator API */
  readonly operator: Operator;
  /** the machines behind the servers; undefined if servers do not boot */
  readonly machines: Machines | undefined;
  /** connections to the services of the machines; nothing answers if servers do not boot */
  readonly network: SimulatedNetwork;
  listen(options: ListenOptions): Promise<CloudListener>;
  /** stops listening and all pending work; a persisted cloud continues from here when it is opened again */
  close(): Promise<void>;
}

/** Creates a cloud, or opens the one persisted in `directory`. */
export async function createCloud(options: CloudOptions): Promise<SimulatedCloud> {
  const core = createCore(options);
  // The machines need the cloud's API, which is created together with them.
  let own: Transport | undefined;
  const cloudTransport: CloudTransport = () => (request) => must(own, 'own')(request);
  const machines =
    options.machines && (await startMachines(core, { cloudTransport, ...options.machines }, options.directory));
  const services = buildServices(core, rooms, options.without ?? []);
  const dispatcher = createDispatcher({
    core,
    services,
    // Glance's links to the next page start at the version. Resolved literally they lose the root of the service.
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
  /** Releases the resources that only one program can hold at a time. */
  release(): Promise<void>;
}

/** Loads the state from the cloud's directory, or creates the state of a new cloud. */
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
      // Imported lazily: address conflicts with other programs exist only with sockets.
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
    // A new cloud exists once its first file has been renamed into place. Until then the secrets may be overwritten.
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

/** Imported lazily: only booting servers need an API server. */
async function kubernetesSoftware(cni: CniRule | undefined): Promise<(base: SoftwareBase) => Software> {
  const { createKubernetesSoftware } = await import('./machines/kubernetes/index.ts');
  return (base) => createKubernetesSoftware({ ...base, ...(cni !== undefined && { cni }) });
}

/** Locks the directory for one cloud. */
async function take(directory: string): Promise<{ release(): Promise<void> }> {
  // Imported lazily: an in-memory cloud does not need the store and its native modules.
  const { lockDirectory } = await import('../store/index.ts');
  return lockDirectory(directory);
}

/** Sets up a new cloud: its administrator, the defaults of each service, then its world. */
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
  // All services are built, because they depend on each other. Clients see only those in the catalogue.
  const services = all.map((room) => room(core)).filter(({ type }) => !without.includes(type));
  for (const service of services) core.catalog.push(catalogEntry(service));
  return services;
}

/** Derives the ids from the names, so the catalogue stays the same after a restart without being stored. */
function catalogEntry({ type, name, root, catalogPath }: ServiceDefinition): CatalogEntry {
  const id = (what: string): string => stableId(`${type} ${what}`);
  const endpointIds = { public: id('public'), internal: id('internal'), admin: id('admin') };
  return { id: id('service'), type, name, root, path: catalogPath, endpointIds };
}
