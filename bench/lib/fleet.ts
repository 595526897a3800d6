import { type Client, createInformerFactory, type HttpClient, restMapper } from '../../src/client/index.ts';
import {
  inParallel,
  type JsonObject,
  type KubeObject,
  type Resource,
  systemClock,
  systemRandom,
} from '../../src/machinery/index.ts';
import { clusterManifests } from './fleet-manifests.ts';

/** The fields of a Machine used by the benchmarks. */
export type MachineView = KubeObject & {
  spec: { clusterName: string };
  status?: { initialization?: { infrastructureProvisioned?: boolean }; nodeRef?: unknown; conditions?: JsonObject[] };
};

/** Clusters of one shape, with names from a prefix. */
export interface FleetShape {
  prefix: string;
  clusters: number;
  controlPlanes: number;
  workers: number;
}

export interface Fleet {
  readonly names: readonly string[];
  apply(): Promise<void>;
  /** resolves once the nodes of all machines are Ready; `look` gets the machines on every change */
  untilReady(look?: (machines: readonly MachineView[]) => void): Promise<void>;
  delete(): Promise<void>;
  /** names of the fleet's existing clusters */
  existing(): Promise<string[]>;
  /** resolves once only these clusters of the fleet are left */
  untilGone(except?: readonly string[]): Promise<void>;
}

const namespace = 'default';

/** Creates and watches clusters through a management API. `signal` ends all waits. */
export async function openFleet(
  client: HttpClient,
  shape: FleetShape,
  options: { patienceMs: number; signal: AbortSignal },
): Promise<Fleet> {
  const mapper = restMapper(client);
  const resource = async (kind: string, group: string): Promise<Resource<KubeObject>> => {
    const found = await mapper.forKind({ kind, group });
    if (!found) throw new Error(`the management API does not serve ${kind}`);
    return found as Resource<KubeObject>;
  };
  const machines = await resource('Machine', 'cluster.x-k8s.io');
  const clusters = await resource('Cluster', 'cluster.x-k8s.io');
  const names = Array.from({ length: shape.clusters }, (_, index) => `${shape.prefix}-${index}`);
  const mine = new Set(names);
  const machineCount = shape.clusters * (shape.controlPlanes + shape.workers);
  return {
    names,
    apply: () =>
      eachOf(names, async (name) => {
        for (const object of clusterManifests({ name, controlPlanes: shape.controlPlanes, workers: shape.workers })) {
          const [group = '', version = ''] = String(object['apiVersion']).split('/');
          const served = await mapper.forKind({ group, version, kind: String(object['kind']) });
          await client.apply(served as Resource<KubeObject>, object as unknown as KubeObject, {
            fieldManager: 'bench',
          });
        }
      }),
    untilReady: (look) =>
      until(client, machines, options, (all) => {
        const own = (all as MachineView[]).filter(({ spec }) => mine.has(spec.clusterName));
        look?.(own);
        return own.filter(isNodeReady).length === machineCount;
      }),
    delete: () => eachOf(names, (name) => client.delete(clusters, { namespace, name })),
    existing: async () => {
      const { items } = await client.list(clusters, { namespace });
      return items.map(({ metadata }) => metadata.name ?? '').filter((name) => mine.has(name));
    },
    untilGone: (except = []) =>
      until(client, clusters, options, (all) => {
        const left = all.map(({ metadata }) => metadata.name ?? '').filter((name) => mine.has(name));
        return left.every((name) => except.includes(name));
      }),
  };
}

export function isControlPlane({ metadata }: KubeObject): boolean {
  return metadata.labels?.['cluster.x-k8s.io/control-plane'] !== undefined;
}

function isNodeReady({ status }: MachineView): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'NodeReady' && value === 'True') ?? false;
}

/** Watches a kind until its objects satisfy the condition. */
export async function until(
  client: Client,
  resource: Resource<KubeObject>,
  { patienceMs, signal }: { patienceMs: number; signal: AbortSignal },
  isEnough: (all: KubeObject[]) => boolean,
): Promise<void> {
  const factory = createInformerFactory({ client, clock: systemClock, random: systemRandom, namespace });
  const informer = factory.informer(resource);
  const stop = new AbortController();
  const running = factory.run(AbortSignal.any([stop.signal, signal]));
  try {
    await informer.waitForSync(signal);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`the fleet was not done within ${patienceMs} ms`)), patienceMs);
      let waiting = false;
      const look = (): void => {
        waiting = false;
        if (!isEnough(informer.lister.list())) return;
        clearTimeout(timer);
        resolve();
      };
      // Changes are batched, so that the load generator does not become the bottleneck.
      const soon = (): void => {
        if (waiting) return;
        waiting = true;
        setTimeout(look, 20);
      };
      informer.addHandler({ onAdd: soon, onUpdate: soon, onDelete: soon });
      soon();
    });
  } finally {
    stop.abort();
    await running;
  }
}

/** Processes all items, a few in parallel. */
export function eachOf<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  return inParallel(items, async (item) => void (await work(item)), { atOnce: 8 });
}
