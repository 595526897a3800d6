import { Pods } from '../../src/api/index.ts';
import type { Client, ObjectKey } from '../../src/client/index.ts';
import { type ManualClock, seededRandom, type UnstructuredObject } from '../../src/machinery/index.ts';
import { createSimulatedBackend, type PodHost, startPodHost } from '../../src/podhost/index.ts';
import type { Logger } from '../../src/runtime/index.ts';
import {
  connectThrough,
  type InProcessApi,
  SimulatedKubernetes,
  simulatedProgram,
  targetOf,
} from '../../src/simkube/index.ts';
import type { SimulatedCloud } from '../../src/simulator/index.ts';
import type { Life } from './mortal.ts';

/** What runs the Pods of a simulated installation. */
export interface SystemPods {
  readonly host: PodHost;
  /** what their programs store */
  readonly kubernetes: SimulatedKubernetes;
  stop(): Promise<void>;
}

export interface PodsOptions {
  readonly client: Client;
  readonly clock: ManualClock;
  readonly seed: number;
  readonly log: Logger;
}

/** Runs Pods without sockets; what they keep is in memory. */
export async function startPods({ client, clock, seed, log }: PodsOptions): Promise<SystemPods> {
  const kubernetes = new SimulatedKubernetes({ clock, random: seededRandom(seed + 11), log });
  const host = await startPodHost({
    client,
    clock,
    random: seededRandom(seed + 12),
    log,
    sockets: false,
    backend: ({ network, nodeAddress }) =>
      createSimulatedBackend({
        clock,
        random: seededRandom(seed + 13),
        network,
        nodeAddress,
        programs: (image, argv) => simulatedProgram(image, argv, kubernetes),
        filesRemoved: (contents) => kubernetes.filesRemoved(contents),
      }),
  });
  return {
    host,
    kubernetes,
    async stop() {
      await host.stop();
      await kubernetes.close();
    },
  };
}

/** Ways to workload APIs: to those in Pods by the network of these, to others through the cloud. */
export function connectBeside(
  { host }: SystemPods,
  cloud: SimulatedCloud['network'],
): (kubeconfig: string) => Promise<InProcessApi> {
  const toPods = connectThrough((address, port) => host.network.dial(address, port));
  const toMachines = connectThrough((address, port) => cloud.dial(address, port));
  return (kubeconfig) => (host.knows(targetOf(kubeconfig).address) ? toPods : toMachines)(kubeconfig);
}

/** Streams to ports of Pods, which end with the one who opened them. */
export function connectPods(
  { host }: SystemPods,
  client: Client,
  life: Life,
): (pod: ObjectKey, port: number, signal: AbortSignal) => Promise<ReturnType<Life['duplex']>> {
  return async (key, port, signal) => {
    const pod = (await client.get(Pods, key, { signal })) as unknown as UnstructuredObject;
    return life.duplex(await life.call(async () => host.podConnector(pod, port)));
  };
}
