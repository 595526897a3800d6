import { Pods } from '../../src/api/index.ts';
import type { Client, ObjectKey } from '../../src/client/index.ts';
import { type ManualClock, seededRandom, type UnstructuredObject } from '../../src/machinery/index.ts';
import { type PodHost, startPodHost } from '../../src/podhost/index.ts';
import type { Logger } from '../../src/runtime/index.ts';
import {
  connectThrough,
  createSimulatedBackend,
  type InProcessApi,
  type PodBackend,
  SimulatedKubernetes,
  simulatedProgram,
  targetOf,
  unreadMetrics,
} from '../../src/simkube/index.ts';
import type { SimulatedCloud } from '../../src/simulator/index.ts';
import { Life } from './mortal.ts';

/** Pods of a simulated installation. */
export interface SystemPods {
  /** current host, or the last one */
  readonly host: PodHost;
  /** state of the programs in the Pods */
  readonly kubernetes: SimulatedKubernetes;
  /** kills the host and all its containers between two of its steps; another one starts */
  crash(): void;
  stop(): Promise<void>;
}

export interface PodsOptions {
  readonly client: Client;
  readonly clock: ManualClock;
  readonly seed: number;
  readonly log: Logger;
  /** counts actions of the host, to detect when it is idle */
  readonly activity: { count: number };
}

/** Runs Pods without sockets. Their data is in memory and survives their host. */
export async function startPods({ client, clock, seed, log, activity }: PodsOptions): Promise<SystemPods> {
  const kubernetes = new SimulatedKubernetes({ clock, random: seededRandom(seed + 11), log });
  let lives = 0;
  let life: Life;
  let host: PodHost;
  let stopping = false;
  let disks: PodBackend | undefined;
  let network: PodHost['network'];

  const begin = async (): Promise<void> => {
    const halt = new AbortController();
    life = new Life(activity, () => {
      halt.abort();
      void disks?.close();
      if (!stopping) clock.after(2_000, () => void begin());
    });
    lives++;
    host = await startPodHost(
      {
        client: life.client(client),
        clock,
        random: seededRandom(seed + 12 + 1_000 * (lives - 1)),
        log,
        metrics: unreadMetrics(),
        sockets: false,
        backend: ({ network: own, nodeAddress }) => {
          network = own;
          disks ??= createSimulatedBackend({
            clock,
            random: seededRandom(seed + 13),
            network: {
              resolve: (name, namespace) => network.resolve(name, namespace),
              dial: (address, port, namespace) => network.dial(address, port, namespace),
            },
            nodeAddress,
            programs: (image, argv) => simulatedProgram(image, argv, kubernetes),
            filesRemoved: (contents) => kubernetes.filesRemoved(contents),
          });
          return disks;
        },
      },
      halt.signal,
    );
    host.failed.catch(() => {});
  };
  await begin();
  return {
    get host() {
      return host;
    },
    kubernetes,
    crash: () => life.kill(),
    async stop() {
      stopping = true;
      await host.stop();
      await kubernetes.close();
    },
  };
}

/** Connects to workload APIs: to those in Pods through the Pod network, to others through the cloud. */
export function connectBeside(
  pods: SystemPods,
  cloud: SimulatedCloud['network'],
): (kubeconfig: string) => Promise<InProcessApi> {
  const toPods = connectThrough((address, port) => pods.host.network.dial(address, port));
  const toMachines = connectThrough((address, port) => cloud.dial(address, port));
  return (kubeconfig) => (pods.host.knows(targetOf(kubeconfig).address) ? toPods : toMachines)(kubeconfig);
}

/** Opens streams to ports of Pods. They end with the caller. */
export function connectPods(
  pods: SystemPods,
  client: Client,
  life: Life,
): (pod: ObjectKey, port: number, signal: AbortSignal) => Promise<ReturnType<Life['duplex']>> {
  return async (key, port, signal) => {
    const pod = (await client.get(Pods, key, { signal })) as unknown as UnstructuredObject;
    return life.duplex(await life.call(async () => pods.host.podConnector(pod, port)));
  };
}
