import { type Node, Nodes } from '../../../api/index.ts';
import { createInformer, type Informer, type ObjectKey } from '../../../client/index.ts';
import { type Clock, deepEqual, type Random } from '../../../machinery/index.ts';
import { comparableProviderId } from '../provider-id.ts';
import type { WorkloadApi } from './types.ts';

export const providerIdIndex = 'providerID';

/** Twice the Node limit of Kubernetes. */
const maxNodes = 10_000;
/** Limit per Node; ordinary Nodes use about a tenth. */
const maxAnnotationsBytes = 64 * 1024;

/** An open connection: client, Node cache, and the fingerprint of its kubeconfig. */
export interface Connection {
  readonly api: WorkloadApi;
  readonly nodes: Informer<Node>;
  /** changes with the kubeconfig */
  readonly fingerprint: string;
  close(): void;
}

export interface ConnectionOptions {
  api: WorkloadApi;
  fingerprint: string;
  clock: Clock;
  random: Random;
  cluster: ObjectKey;
  onNode(node: Node): void;
  onSynced(): void;
  /** called when the Node watch breaks, possibly the first sign of an outage */
  onFault(): void;
}

export function openConnection(options: ConnectionOptions): Connection {
  const { api, clock, random } = options;
  const stop = new AbortController();
  const nodes = createInformer<Node>({
    client: api.client,
    resource: Nodes,
    clock,
    random,
    transform: slim,
    maxObjects: maxNodes,
    onError: () => {
      if (!stop.signal.aborted) options.onFault();
    },
  });
  nodes.addIndexer(providerIdIndex, (node) => {
    const id = node.spec?.providerID;
    return id === undefined || id === '' ? [] : [comparableProviderId(id)];
  });
  nodes.addHandler({
    onAdd: (node, initial) => {
      // one notification after the initial list instead of one per Node
      if (!initial) options.onNode(node);
    },
    onUpdate: (node, old) => {
      if (!onlyHeartbeat(old, node)) options.onNode(node);
    },
    onDelete: (node) => options.onNode(node),
  });
  void nodes.run(stop.signal);
  nodes.waitForSync(stop.signal).then(options.onSynced, () => {});
  return {
    api,
    nodes,
    fingerprint: options.fingerprint,
    close() {
      stop.abort();
      void Promise.resolve(api.close()).catch(() => {});
    },
  };
}

/** Drops images and managedFields: most of a Node, and unused here. */
function slim(node: Node): Node {
  const { managedFields: _, annotations, ...rest } = node.metadata;
  const metadata = { ...rest, ...(annotations && { annotations: fitting(annotations) }) };
  if (!node.status) return { ...node, metadata };
  const { images: __, ...status } = node.status as typeof node.status & { images?: unknown };
  return { ...node, metadata, status };
}

/** Drops annotations beyond the limit: the tenant's API server controls Nodes and must not fill the memory. */
function fitting(annotations: Record<string, string>): Record<string, string> {
  let bytes = 0;
  return Object.fromEntries(
    Object.entries(annotations).filter(([key, value]) => {
      bytes += key.length + value.length;
      return bytes <= maxAnnotationsBytes;
    }),
  );
}

/** Tells whether only heartbeat fields changed, which kubelets update every few minutes. */
function onlyHeartbeat(old: Node, now: Node): boolean {
  return (
    deepEqual(old.spec, now.spec) &&
    deepEqual(old.metadata.labels, now.metadata.labels) &&
    deepEqual(old.metadata.annotations, now.metadata.annotations) &&
    old.metadata.deletionTimestamp === now.metadata.deletionTimestamp &&
    deepEqual(withoutHeartbeats(old), withoutHeartbeats(now))
  );
}

function withoutHeartbeats(node: Node): unknown {
  if (!node.status) return undefined;
  return {
    ...node.status,
    conditions: node.status.conditions?.map(({ lastHeartbeatTime: _, ...condition }) => condition),
  };
}
