import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HttpClient, restMapper } from '../../src/client/index.ts';
import { type JsonObject, type KubeObject, parseYamlDocuments, type Resource } from '../../src/machinery/index.ts';
import { eachOf, until } from './fleet.ts';
import { projectRoot } from './node-arguments.ts';

/** Kind of control plane in the manifests. */
export interface HostedFlavor {
  /** directory below examples/, and the name of its cluster */
  example: string;
  cluster: string;
  controlPlaneKind: string;
  /** Service of a plane's load balancer, and its API port */
  service(name: string): string;
  port: number;
  /** names of the Pods of etcd and of the API servers, without their unique suffix */
  etcdPods(name: string): string;
  apiPods(name: string): string;
}

export const flavors: Readonly<Record<string, HostedFlavor>> = {
  k0smotron: {
    example: 'hosted-k0smotron',
    cluster: 'hosted-k0smotron',
    controlPlaneKind: 'K0smotronControlPlane',
    service: (name) => `kmc-${name}-lb`,
    port: 6443,
    etcdPods: (name) => `kmc-${name}-etcd`,
    apiPods: (name) => `kmc-${name}`,
  },
  hosted: {
    example: 'hosted-control-plane',
    cluster: 'hosted',
    controlPlaneKind: 'HostedControlPlane',
    service: (name) => `s-${name}`,
    port: 6443,
    etcdPods: (name) => `${name}-etcd`,
    apiPods: (name) => `${name}-api-server`,
  },
};

/** The fields of a control plane used by the benchmark. */
type ControlPlaneView = KubeObject & {
  status?: { initialization?: { controlPlaneInitialized?: boolean }; readyReplicas?: number };
};
type PodView = KubeObject & { status?: { phase?: string } };
type ServiceView = KubeObject & { status?: { loadBalancer?: { ingress?: { ip?: string }[] } } };

/** Times at which a plane's first etcd Pod existed, a majority of them ran, and its first API Pod existed. */
export interface PodTimes {
  etcdMadeMs: number;
  etcdRunsMs: number;
  apiMadeMs: number;
}

export interface HostedFleet {
  apply(names: readonly string[]): Promise<void>;
  /** resolves once all of them answer; `reached` is called for each */
  untilInitialized(names: readonly string[], reached?: (name: string) => void): Promise<void>;
  /** resolves once all their replicas are ready */
  untilComplete(names: readonly string[]): Promise<void>;
  /** resolves once their load balancers have addresses; `reached` is called for each */
  untilAddressed(names: readonly string[], reached: (name: string, address: string) => void): Promise<void>;
  /**
   * returns the times of each plane's Pods, once every plane has an API Pod; `reached` is called for each plane at that
   * moment
   */
  untilPods(names: readonly string[], reached?: (name: string) => void): Promise<ReadonlyMap<string, PodTimes>>;
  /** scales planes to zero replicas, which removes only their Pods */
  sleep(names: readonly string[]): Promise<void>;
  /** resolves once there are no Pods */
  untilAsleep(): Promise<void>;
  /** resolves once they are gone */
  untilGone(names: readonly string[]): Promise<void>;
  delete(names: readonly string[]): Promise<void>;
}

const namespace = 'default';

/** Creates and watches hosted planes without workers through a management API. */
export async function openHostedFleet(
  client: HttpClient,
  flavor: HostedFlavor,
  options: { replicas: number; patienceMs: number; signal: AbortSignal },
): Promise<HostedFleet> {
  const mapper = restMapper(client);
  const resource = async (kind: string, group: string): Promise<Resource<KubeObject>> => {
    const found = await mapper.forKind({ kind, group });
    if (!found) throw new Error(`the management API does not serve ${kind}`);
    return found as Resource<KubeObject>;
  };
  const planes = await resource(flavor.controlPlaneKind, 'controlplane.cluster.x-k8s.io');
  const clusters = await resource('Cluster', 'cluster.x-k8s.io');
  const services = await resource('Service', '');
  const pods = await resource('Pod', '');
  const { replicas } = options;
  /** waits until all names satisfy the condition, and reports each once */
  const untilEach = (
    kind: Resource<KubeObject>,
    nameOf: (name: string) => string,
    names: readonly string[],
    isDone: (object: KubeObject, name: string) => boolean,
  ): Promise<void> => {
    const waiting = new Map(names.map((name) => [nameOf(name), name]));
    return until(client, kind, options, (all) => {
      for (const object of all) {
        const name = waiting.get(object.metadata.name ?? '');
        if (name !== undefined && isDone(object, name)) waiting.delete(object.metadata.name ?? '');
      }
      return waiting.size === 0;
    });
  };
  const itself = (name: string): string => name;
  return {
    apply: (names) =>
      eachOf(names, async (name) => {
        for (const object of planeManifests(flavor, name, replicas)) {
          const [group = '', version = ''] = String(object['apiVersion']).split('/');
          const served =
            version === ''
              ? await mapper.forKind({ group: '', version: group, kind: String(object['kind']) })
              : await mapper.forKind({ group, version, kind: String(object['kind']) });
          await client.apply(served as Resource<KubeObject>, object as unknown as KubeObject, {
            fieldManager: 'bench',
          });
        }
      }),
    untilInitialized: (names, reached) =>
      untilEach(planes, itself, names, ({ status }: ControlPlaneView, name) => {
        const isDone = status?.initialization?.controlPlaneInitialized === true;
        if (isDone) reached?.(name);
        return isDone;
      }),
    untilComplete: (names) =>
      untilEach(planes, itself, names, ({ status }: ControlPlaneView) => status?.readyReplicas === replicas),
    untilAddressed: (names, reached) =>
      untilEach(services, flavor.service, names, ({ status }: ServiceView, name) => {
        const address = status?.loadBalancer?.ingress?.[0]?.ip;
        if (address !== undefined) reached(name, address);
        return address !== undefined;
      }),
    async untilPods(names, reached) {
      const observer = observePods(flavor, { names, replicas, ...(reached && { reached }) });
      await until(client, pods, options, (all) => observer.look(all, performance.now()));
      return observer.times;
    },
    sleep: (names) =>
      eachOf(names, (name) =>
        client.patch(planes, { namespace, name }, 'merge', { spec: { replicas: 0 } }, { fieldManager: 'bench' }),
      ),
    untilAsleep: () => until(client, pods, options, (all) => all.length === 0),
    untilGone: (names) => {
      const mine = new Set(names);
      return until(client, clusters, options, (all) => !all.some(({ metadata }) => mine.has(metadata.name ?? '')));
    },
    delete: (names) => eachOf(names, (name) => client.delete(clusters, { namespace, name })),
  };
}

/** Records when the Pods of planes appear, from lists of all Pods. Reports whether every plane has an API Pod. */
export function observePods(
  flavor: HostedFlavor,
  options: { names: readonly string[]; replicas: number; reached?: (name: string) => void },
): { times: ReadonlyMap<string, PodTimes>; look(pods: readonly KubeObject[], nowMs: number): boolean } {
  const { names, reached } = options;
  const times = new Map(names.map((name) => [name, { etcdMadeMs: 0, etcdRunsMs: 0, apiMadeMs: 0 }]));
  const etcdOf = new Map(names.map((name) => [flavor.etcdPods(name), name]));
  const apiOf = new Map(names.map((name) => [flavor.apiPods(name), name]));
  const majority = Math.floor(options.replicas / 2) + 1;
  const waiting = new Set(names);
  return {
    times,
    look(pods, nowMs) {
      const running = new Map<string, number>();
      for (const { metadata, status } of pods as readonly PodView[]) {
        const set = setOfPod(metadata.name ?? '');
        const etcd = times.get(etcdOf.get(set) ?? '');
        if (etcd) {
          etcd.etcdMadeMs ||= nowMs;
          if (status?.phase !== 'Running') continue;
          running.set(set, (running.get(set) ?? 0) + 1);
          if (running.get(set) === majority) etcd.etcdRunsMs ||= nowMs;
          continue;
        }
        const name = apiOf.get(set) ?? '';
        if (!waiting.delete(name)) continue;
        times.get(name)!.apiMadeMs = nowMs;
        reached?.(name);
      }
      return waiting.size === 0;
    },
  };
}

/**
 * Returns the seconds from the address of a plane's load balancer to its first API Pod, without the start of the etcd
 * Pods.
 */
export function ownSeconds({ etcdMadeMs, etcdRunsMs, apiMadeMs }: PodTimes, addressedMs: number): number {
  // etcd Pods may exist before the address does. Then nothing waits for them.
  return (Math.max(0, etcdMadeMs - addressedMs) + apiMadeMs - etcdRunsMs) / 1000;
}

/** Pods are named after their set, with a number or two random parts as suffix. Returns the name of the set. */
function setOfPod(pod: string): string {
  return pod.replace(/-(\d+|[a-z0-9]+-[a-z0-9]{5})$/, '');
}

/** Builds the repository's example with another name, this number of replicas, and no workers. */
function planeManifests(flavor: HostedFlavor, name: string, replicas: number): JsonObject[] {
  const text = readFileSync(join(projectRoot, 'examples', flavor.example, 'cluster.yaml'), 'utf8');
  const kinds = new Set(['Cluster', 'OpenStackCluster', 'Gateway', flavor.controlPlaneKind]);
  return parseYamlDocuments(text)
    .map(({ value }) => value as JsonObject & { kind: string; metadata: JsonObject; spec: JsonObject })
    .filter(({ kind }) => kinds.has(kind))
    .map((object) => {
      if (object.kind !== 'Gateway') object.metadata['name'] = name;
      if (object.kind === flavor.controlPlaneKind) object.spec['replicas'] = replicas;
      if (object.kind !== 'Cluster') return object;
      for (const ref of ['controlPlaneRef', 'infrastructureRef']) (object.spec[ref] as JsonObject)['name'] = name;
      return object;
    });
}
