import {
  type Cluster,
  Clusters,
  clusterNameLabel,
  type Machine,
  Machines,
  type Node,
  type Secret,
  Secrets,
} from '../../../api/index.ts';
import {
  type Client,
  createInformer,
  formatKey,
  type Informer,
  type Lister,
  type ObjectKey,
  parseKey,
} from '../../../client/index.ts';
import { type Clock, ignoreNotFound, limitAnswer, type Random } from '../../../machinery/index.ts';
import {
  after,
  defineController,
  done,
  type ExternalSource,
  type Predicate,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import { explain } from '../conditions.ts';
import { type ClusterSecretPurpose, clusterSecretName, controlPlaneLabel } from '../names.ts';
import { comparableProviderId } from '../provider-id.ts';
import { type Connection, openConnection, providerIdIndex } from './connection.ts';
import {
  type ConnectWorkload,
  type WorkloadApi,
  type WorkloadClusters,
  WorkloadNotConnectedError,
  type WorkloadState,
} from './types.ts';

export interface WorkloadClustersOptions {
  /** client of the management API, which has the kubeconfigs */
  client: Client;
  /** restricts kubeconfigs to one namespace */
  namespace?: string;
  connect: ConnectWorkload;
  clock: Clock;
  random: Random;
  /** probe interval of a failing connection; default 10 s */
  probeIntervalMs?: number;
  /** probe interval of a working connection with a live Node watch; default 60 s */
  calmProbeIntervalMs?: number;
  /** probe timeout; default 5 s */
  probeTimeoutMs?: number;
  /** consecutive failed probes until a connection is closed; default 5 */
  maxFailures?: number;
  /** failure duration after which dependents are enqueued again; default 5 minutes */
  gracePeriodMs?: number;
  concurrency?: number;
}

interface Entry {
  connection?: Connection;
  /** connection that has not answered yet; kept between attempts */
  candidate?: { api: WorkloadApi; fingerprint: string };
  state: WorkloadState;
  /** dependents were notified after the grace period */
  graceReported?: boolean;
}

/** Early attempts are frequent, because control planes start within seconds; later ones are not. */
const eagerMs = 40_000;
const lateRetryMs = 10_000;
/**
 * The delay between early attempts grows with the number of pending clusters, because attempts are expensive while many
 * start.
 */
const eagerRetryMs = { least: 200, perCluster: 8, most: 1_000 } as const;

/** problem of a connection that was never tried */
const notTried = 'it is tried once the infrastructure of the Cluster is provisioned';

export function createWorkloadClusters(options: WorkloadClustersOptions): WorkloadClusters {
  const { clock, random } = options;
  const probeIntervalMs = options.probeIntervalMs ?? 10_000;
  const calmProbeIntervalMs = options.calmProbeIntervalMs ?? Math.max(probeIntervalMs, 60_000);
  const probeTimeoutMs = options.probeTimeoutMs ?? 5_000;
  const maxFailures = options.maxFailures ?? 5;
  const gracePeriodMs = options.gracePeriodMs ?? 300_000;
  const entries = new Map<string, Entry>();
  /** clusters being connected */
  const sought = new Set<Entry>();
  const connectionListeners = new Set<(cluster: ObjectKey) => void>();
  const nodeListeners = new Set<(cluster: ObjectKey, node: Node) => void>();
  const secrets = createInformer<Secret>({
    client: options.client,
    resource: Secrets,
    clock,
    random,
    labelSelector: clusterNameLabel,
    ...(options.namespace !== undefined && { namespace: options.namespace }),
    transform: kubeconfigOnly,
  });

  const entryOf = (key: string): Entry => {
    const known = entries.get(key);
    if (known) return known;
    const entry: Entry = { state: { connected: false, lastSuccess: 0, failures: 0 } };
    entries.set(key, entry);
    return entry;
  };
  /** Probes are rare while a live Node watch would report an outage. */
  const nextProbe = ({ connection }: Entry): Result => {
    const isCalm = connection?.nodes.hasSynced() === true && connection.nodes.lastError() === undefined;
    return after(isCalm ? calmProbeIntervalMs : probeIntervalMs, 'next probe of the workload API');
  };
  let probeSoon = (_cluster: ObjectKey): void => {};
  const tell = (cluster: ObjectKey): void => {
    for (const listener of connectionListeners) listener(cluster);
  };
  const giveUp = (entry: Entry): void => {
    entry.connection?.close();
    delete entry.connection;
  };
  const disconnect = (entry: Entry): void => {
    giveUp(entry);
    if (entry.candidate) void Promise.resolve(entry.candidate.api.close()).catch(() => {});
    delete entry.candidate;
    sought.delete(entry);
  };
  const failed = (entry: Entry, cluster: ObjectKey, error: unknown): void => {
    const { state } = entry;
    const wasConnected = state.connected;
    const failures = state.failures + 1;
    const unauthorized = (error as { code?: unknown }).code === 401;
    const given = entry.connection === undefined || failures >= maxFailures || unauthorized;
    const failingSince = state.failingSince ?? clock.now();
    const graceOver = clock.now() - Math.max(state.lastSuccess, failingSince) >= gracePeriodMs;
    entry.state = {
      connected: wasConnected && !given,
      lastSuccess: state.lastSuccess,
      failures,
      failingSince,
      problem: explain(error),
    };
    if (given) giveUp(entry);
    if (wasConnected !== entry.state.connected || failures === maxFailures || (graceOver && !entry.graceReported)) {
      if (graceOver) entry.graceReported = true;
      tell(cluster);
    }
  };
  const succeeded = (entry: Entry, cluster: ObjectKey): void => {
    const now = clock.now();
    const error = entry.connection?.nodes.lastError();
    const was = entry.state.unreadable;
    const unreadable = error === undefined ? undefined : { since: was?.since ?? now, problem: explain(error) };
    const graceOver = unreadable !== undefined && now - unreadable.since >= gracePeriodMs;
    // dependents that asked meanwhile have seen the failures, however few
    const news =
      !entry.state.connected ||
      entry.state.failures > 0 ||
      (was === undefined) !== (unreadable === undefined) ||
      (graceOver && !entry.graceReported);
    entry.state = { connected: true, lastSuccess: now, failures: 0, ...(unreadable && { unreadable }) };
    entry.graceReported = graceOver;
    if (news) tell(cluster);
  };
  const bounded = async (signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    const limit = new AbortController();
    const onAbort = (): void => limit.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    let cancel = (): void => {};
    const late = new Promise<never>((_, reject) => {
      cancel = limitAnswer(clock, probeTimeoutMs, () => {
        const reason = new Error(`no answer within ${probeTimeoutMs / 1000} s`);
        limit.abort(reason);
        reject(reason);
      });
    });
    try {
      await Promise.race([work(limit.signal), late]);
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
    }
  };

  const keepConnected = async (
    cluster: Cluster | undefined,
    key: ObjectKey,
    own: { readSecret(): Promise<Secret | undefined>; controlPlaneMachines(): readonly Machine[] },
    signal: AbortSignal,
  ): Promise<Result> => {
    const id = formatKey(key);
    const wanted = cluster?.status?.initialization?.infrastructureProvisioned === true;
    if (!cluster || !wanted) {
      const entry = entries.get(id);
      if (entry) {
        disconnect(entry);
        entries.delete(id);
        tell(key);
      }
      return done();
    }
    const entry = entryOf(id);
    const secret = await own.readSecret();
    const kubeconfig = secret?.data?.['value'];
    if (kubeconfig === undefined) {
      const wasConnected = entry.connection !== undefined;
      disconnect(entry);
      if (wasConnected) {
        entry.state = { ...entry.state, connected: false, problem: 'the kubeconfig Secret is gone' };
        tell(key);
      }
      entry.state.problem ??= `Secret ${clusterSecretName(key.name, 'kubeconfig')} does not exist yet`;
      // the creation of the Secret triggers a reconcile
      return done();
    }
    const known = entry.connection ?? entry.candidate;
    if (known && known.fingerprint !== kubeconfig) disconnect(entry);
    try {
      if (entry.connection) {
        const { api } = entry.connection;
        await bounded(signal, (limited) => api.probe(limited));
        succeeded(entry, key);
        return nextProbe(entry);
      }
      if (entry.state.lastSuccess === 0 && hasNoServerYet(own.controlPlaneMachines())) {
        entry.state.problem = 'no machine of the control plane has a server yet';
        return done();
      }
      entry.candidate ??= {
        api: await options.connect(Buffer.from(kubeconfig, 'base64').toString('utf8'), key),
        fingerprint: kubeconfig,
      };
      const { api } = entry.candidate;
      sought.add(entry);
      await bounded(signal, (limited) => api.probe(limited));
      delete entry.candidate;
      sought.delete(entry);
      entry.connection = openConnection({
        api,
        fingerprint: kubeconfig,
        clock,
        random,
        cluster: key,
        onNode: (node) => {
          for (const listener of nodeListeners) listener(key, node);
        },
        onSynced: () => tell(key),
        onFault: () => {
          // only on the first failure; afterwards probes are frequent anyway
          if (entry.state.failures === 0) probeSoon(key);
        },
      });
      succeeded(entry, key);
      return nextProbe(entry);
    } catch (error) {
      if (signal.aborted) throw error;
      failed(entry, key, error);
      const isLate = clock.now() - (entry.state.failingSince ?? clock.now()) > eagerMs;
      if (isLate) sought.delete(entry);
      const wait = entry.connection ? probeIntervalMs : isLate ? lateRetryMs : eagerRetry(sought.size);
      return after(wait, 'the workload API does not answer');
    }
  };

  const connected = (cluster: ObjectKey): Connection => {
    const entry = entries.get(formatKey(cluster));
    if (!entry?.connection) throw new WorkloadNotConnectedError(cluster, entry ? entry.state.problem : notTried);
    return entry.connection;
  };
  const synced = (cluster: ObjectKey): Informer<Node> => {
    const { nodes } = connected(cluster);
    if (!nodes.hasSynced()) throw new WorkloadNotConnectedError(cluster, 'the Nodes have not been read yet');
    return nodes;
  };

  return {
    state: (cluster) => entries.get(formatKey(cluster))?.state ?? { connected: false, lastSuccess: 0, failures: 0 },
    client: (cluster) => connected(cluster).api.client,
    nodes: (cluster): Lister<Node> => synced(cluster).lister,
    nodesByProviderId: (cluster, providerId) =>
      synced(cluster).lister.byIndex(providerIdIndex, comparableProviderId(providerId)),
    portForward: async (cluster, pod, port, signal) => await connected(cluster).api.portForward(pod, port, signal),
    connectionSource: (keysOf): ExternalSource => ({
      start({ enqueue, signal }) {
        const listener = (cluster: ObjectKey): void => {
          for (const key of keysOf(cluster)) enqueue(key);
        };
        connectionListeners.add(listener);
        signal.addEventListener('abort', () => connectionListeners.delete(listener), { once: true });
      },
    }),
    nodeSource: (keysOf, { patient = false } = {}): ExternalSource => ({
      start({ enqueue, enqueuePatiently, signal }) {
        const listener = (cluster: ObjectKey, node: Node): void => {
          for (const key of keysOf(cluster, node)) patient ? enqueuePatiently(key) : enqueue(key);
        };
        nodeListeners.add(listener);
        signal.addEventListener('abort', () => nodeListeners.delete(listener), { once: true });
      },
    }),
    controller: defineController({
      name: 'workload-connection',
      for: Clusters,
      setup: (informers) => informers.informer(Machines).addIndexer(byControlPlane, controlPlaneOf),
      watches: [
        watchObjects(Clusters, { predicates: [connectionMayChange] }),
        watchMapped(Machines, (machine) => controlPlaneOf(machine).map(parseKey), { predicates: [gotServer] }),
      ],
      sources: [
        {
          async start({ enqueue, signal }) {
            probeSoon = enqueue;
            const wake = (secret: Secret): void => {
              const cluster = clusterOf(secret);
              if (cluster) enqueue(cluster);
            };
            secrets.addHandler({
              onAdd: wake,
              onUpdate: (secret, old) => {
                if (secret.data?.['value'] !== old.data?.['value']) wake(secret);
              },
              onDelete: wake,
            });
            await secrets.run(signal);
            for (const entry of entries.values()) disconnect(entry);
            entries.clear();
          },
        },
      ],
      concurrency: options.concurrency ?? 20,
      released(key) {
        const id = formatKey(key);
        const entry = entries.get(id);
        if (entry) disconnect(entry);
        entries.delete(id);
      },
      async reconcile({ client, cache, signal }, key) {
        const name = clusterSecretName(key.name, 'kubeconfig');
        const secretKey = key.namespace === undefined ? { name } : { namespace: key.namespace, name };
        // user-supplied Secrets may lack the label, so the cache does not have them
        const readSecret = async (): Promise<Secret | undefined> =>
          (secrets.hasSynced() ? secrets.lister.get(secretKey) : undefined) ??
          (await client.get(Secrets, secretKey, { signal }).catch(ignoreNotFound));
        const controlPlaneMachines = (): Machine[] => cache.lister(Machines).byIndex(byControlPlane, formatKey(key));
        const own = { readSecret, controlPlaneMachines };
        return await keepConnected(cache.lister(Clusters).get(key), key, own, signal);
      },
    }),
  };
}

function eagerRetry(clusters: number): number {
  const { least, perCluster, most } = eagerRetryMs;
  return Math.min(most, Math.max(least, clusters * perCluster));
}

const kubeconfigSuffix = `-${'kubeconfig' satisfies ClusterSecretPurpose}`;

/** Cluster Secrets are many and large; the cache keeps only the content of kubeconfigs. */
function kubeconfigOnly(secret: Secret): Secret {
  const { managedFields: _, ...metadata } = secret.metadata;
  if (secret.metadata.name?.endsWith(kubeconfigSuffix) === true) return { ...secret, metadata };
  const { name, namespace, uid, resourceVersion } = metadata;
  return {
    apiVersion: secret.apiVersion,
    kind: secret.kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}

function clusterOf(secret: Secret): ObjectKey | undefined {
  const { name = '', namespace } = secret.metadata;
  if (!name.endsWith(kubeconfigSuffix)) return undefined;
  const cluster = name.slice(0, -kubeconfigSuffix.length);
  return namespace === undefined ? { name: cluster } : { namespace, name: cluster };
}

const byControlPlane = 'machinesOfControlPlane';

/** Index value: the cluster whose control plane a machine belongs to. */
function controlPlaneOf({ metadata, spec }: Machine): string[] {
  if (metadata.labels?.[controlPlaneLabel] === undefined) return [];
  const { namespace } = metadata;
  return [formatKey({ ...(namespace !== undefined && { namespace }), name: spec.clusterName })];
}

const hasServer = ({ status }: Machine): boolean => status?.initialization?.infrastructureProvisioned === true;

/** A control plane of machines cannot answer before one of them has a server. */
const hasNoServerYet = (own: readonly Machine[]): boolean => own.length > 0 && !own.some(hasServer);

const gotServer: Predicate<Machine> = (event) =>
  event.type !== 'update' || hasServer(event.object) !== hasServer(event.old);

/** Connections depend only on one status field and the existence of a Cluster; other changes are ignored. */
const connectionMayChange: Predicate<Cluster> = (event) =>
  event.type !== 'update' ||
  event.object.status?.initialization?.infrastructureProvisioned !==
    event.old.status?.initialization?.infrastructureProvisioned ||
  event.object.status?.initialization?.controlPlaneInitialized !==
    event.old.status?.initialization?.controlPlaneInitialized;
