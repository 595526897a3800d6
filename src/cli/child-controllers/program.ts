import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { AgentDials, CellPlace } from '../../controllers/index.ts';
import { peerPolicy, systemClock, systemRandom } from '../../machinery/index.ts';
import { type CheckResult, createMetrics, type Manager } from '../../runtime/index.ts';
import {
  connectThrough,
  duplexPair,
  httpService,
  imageProgramName,
  klogger,
  type PortService,
  type ProgramChooser,
  type SimulatedProcess,
  serviceAccountClient,
} from '../../simkube/index.ts';
import { healthPaths, metricsPaths } from '../controller/endpoints.ts';
import { leaderLease } from '../controller/leases.ts';
import { parseControllerAreas } from '../controller-areas.ts';
import { cellPorts } from '../install/workload.ts';
import { socketTo } from '../lattice/endpoints.ts';
import { ownCloudTransport } from '../own-cloud-transport.ts';

export interface ChildControllersOptions {
  /** URL of the simulated cloud, the only reachable one */
  cloudUrl(): string | undefined;
  /** backups of hosted control planes in these clusters */
  backupDirectory: string;
  /** whether an address outside the cloud belongs to a parent of its clusters */
  reachable(host: string, port: number): boolean;
}

/** Denies all peers, so that objects of a simulated cluster cannot make this host connect anywhere. */
const nobody = peerPolicy({ deny: ['0.0.0.0/0', '::/0'], allow: [] });

/**
 * Simulates the program's image: it runs the real controllers on the API of the simulated cluster. As in any cluster,
 * they reach that API by their service account, and the cloud and the cluster's agents by Secrets.
 */
export function childControllers(options: ChildControllersOptions): ProgramChooser {
  return (image, argv) => {
    const isOurs = imageProgramName(image) === 'capstan' && argv.includes('controller');
    return isOurs ? (process) => runInside(process, options) : undefined;
  };
}

async function runInside(process: SimulatedProcess, options: ChildControllersOptions): Promise<number> {
  // Loaded on demand, because clouds without self-managed clusters do not need it.
  const [{ runControllers }, { startWebhookService }] = await Promise.all([
    import('../controller/run-controllers.ts'),
    import('../controller/webhook-service.ts'),
  ]);
  const { signal } = process;
  const log = klogger(process);
  const client = serviceAccountClient(process);
  const metrics = createMetrics();
  const state: { manager?: Manager; isPublished(): boolean } = { isPublished: () => false };
  const ready = (): CheckResult => {
    const problems = state.manager ? [...state.manager.ready().problems] : ['the controllers have not started'];
    if (!state.isPublished())
      problems.push('the API server does not have the certificate authority of the webhooks yet');
    return { ok: problems.length === 0, problems };
  };
  const healthy = (): CheckResult => state.manager?.healthy() ?? { ok: true, problems: [] };
  process.listen(portFlag(process, 'health-probe-bind-address', 9440), answering(healthPaths({ healthy, ready })));
  process.listen(portFlag(process, 'metrics-bind-address', 8080), answering(metricsPaths(metrics)));
  const common = { client, clock: systemClock, random: systemRandom, log };
  const webhooks = await startWebhookService({ ...common, host: '127.0.0.1', port: 0, reconcilesAll: true, signal });
  try {
    state.isPublished = () => webhooks.keeper.isPublished;
    process.listen(portFlag(process, 'webhook-port', 9443), leadingTo(webhooks.port));
    const areas = parseControllerAreas('all');
    const cell = cellOf(process);
    const tls = { ca: undefined, cert: undefined, key: undefined, verify: false };
    await runControllers({
      client,
      leaseClient: client,
      lease: leaderLease({ areas }),
      controllers: {
        areas,
        peers: nobody,
        cloudTransport: ownCloudTransport(options.cloudUrl)({ tls }),
        connectWorkload: connectThrough((host, port) => process.dial(host, port)),
        agent: agentOf(process, options),
        ...(cell && { cell }),
        backupDirectory: options.backupDirectory,
        stackSources: [],
        metrics,
        log,
      },
      onManager: (manager) => {
        state.manager = manager;
      },
      onReady: () => process.log('ready'),
      signal,
    });
    return 0;
  } catch (error) {
    if (signal.aborted) return 0;
    log.error('The controllers ended', { error });
    return 1;
  } finally {
    await webhooks.close();
  }
}

/** Dials the parent: inside the cloud, or at addresses that the operator allows. */
function agentOf(process: SimulatedProcess, { reachable }: ChildControllersOptions): AgentDials {
  const within = async (host: string, port: number): Promise<Duplex> => {
    const [ours, theirs] = duplexPair();
    process.dial(host, port).accept(theirs);
    return ours;
  };
  return {
    parent: (host, port, signal) => (reachable(host, port) ? socketTo(host, port, signal) : within(host, port)),
    api: () =>
      within(process.env['KUBERNETES_SERVICE_HOST'] ?? '', Number(process.env['KUBERNETES_SERVICE_PORT'] ?? 443)),
  };
}

/** Clusters of this cluster connect through its Service to the ports of the Pod. */
function cellOf(process: SimulatedProcess): CellPlace | undefined {
  if (process.address === '') return undefined;
  const anyPort = { host: '127.0.0.1', port: 0 };
  const earlier: (() => void)[] = [];
  return {
    bootstrap: anyPort,
    agents: anyPort,
    podAddress: process.address,
    podPorts: cellPorts,
    onListening({ bootstrap, agents }) {
      for (const stop of earlier.splice(0)) stop();
      earlier.push(process.listen(cellPorts.bootstrap, leadingTo(bootstrap)));
      earlier.push(process.listen(cellPorts.agents, leadingTo(agents)));
    },
  };
}

function portFlag({ argv }: SimulatedProcess, name: string, usual: number): number {
  const prefix = `--${name}=`;
  const address = argv.find((argument) => argument.startsWith(prefix))?.slice(prefix.length) ?? '';
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  return port > 0 && port < 65_536 ? port : usual;
}

type Paths = ReturnType<typeof healthPaths>;

function answering(paths: Paths): PortService {
  return httpService(async (path) => {
    const [name = ''] = path.split('?', 1);
    const answer = Object.hasOwn(paths, name) ? await paths[name]?.() : undefined;
    return answer ? { status: answer.code, body: answer.body } : { status: 404, body: 'not found\n' };
  });
}

/** Forwards connections from a port of the Pod to a port of this host. */
function leadingTo(port: number): PortService {
  return {
    accept(socket) {
      const server = connect(port, '127.0.0.1');
      const end = (): void => {
        socket.destroy();
        server.destroy();
      };
      socket.on('error', end).on('close', end);
      server.on('error', end).on('close', end);
      socket.pipe(server).pipe(socket);
    },
  };
}
