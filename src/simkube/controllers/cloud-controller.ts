import { type Node, Nodes, type Pod, Pods } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { isPodReady } from '../../housekeeping/index.ts';
import { asJson, type Clock, type Random } from '../../machinery/index.ts';
import {
  type ControllerDefinition,
  createManager,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../runtime/index.ts';
import type { CloudView } from '../cluster/workload-cluster.ts';
import { uninitializedTaint } from '../names.ts';
import { unreadMetrics } from './unread-metrics.ts';

const fieldManager = 'openstack-cloud-controller-manager';
const everyNode = { name: '*' };

/** Whether a Pod is an OpenStack cloud controller manager at work. */
export function isCloudController(pod: Pod): boolean {
  const isNamed = (name: string): boolean => /^openstack-(cloud-)?controller-manager|^openstack-ccm/.test(name);
  return (
    (pod.metadata.ownerReferences?.some(({ name }) => isNamed(name)) ?? false) ||
    isNamed(pod.metadata.labels?.['k8s-app'] ?? '') ||
    isNamed(pod.metadata.labels?.['app'] ?? '')
  );
}

/**
 * What the cloud controller manager does for nodes, in clusters where somebody has deployed it: tells Nodes which server
 * they are and where, takes the taint from them that keeps Pods away until then, and removes Nodes whose server is gone.
 */
export function cloudControllers(cluster: { readonly cloud: CloudView }): ControllerDefinition[] {
  return [
    defineController({
      name: 'cloud-node',
      for: Nodes,
      watches: [
        watchObjects(Nodes),
        watchMapped(Pods, () => [everyNode], { predicates: [({ object }) => isCloudController(object)] }),
      ],
      reconcile(context, { name }) {
        const pods = context.cache.lister(Pods);
        const isAtWork = (): boolean =>
          pods.list({ filter: (pod) => isCloudController(pod) && isPodReady(pod) }).length > 0;
        return tend(context, name, cluster.cloud, isAtWork);
      },
    }),
  ];
}

/** What runs in a Pod of the cloud controller manager. */
export interface CloudControllerRun {
  /** with the rights of its service account */
  readonly client: Client;
  readonly cloud: CloudView;
  readonly clock: Clock;
  readonly random: Random;
  /** of the Pod: of several, one leads */
  readonly identity: string;
}

/** Renewed seldom: every simulated cluster has such a lease, and a minute without a leader hurts nobody. */
const lease = { leaseDurationMs: 60_000, renewDeadlineMs: 40_000, retryPeriodMs: 10_000 };

/** The same, for a cluster whose own controllers run elsewhere and know nothing of the cloud; until the signal aborts. */
export async function runCloudController(run: CloudControllerRun, signal: AbortSignal): Promise<void> {
  const { client, cloud, clock, random, identity } = run;
  const leaderElection = { namespace: 'kube-system', name: 'cloud-controller-manager', identity, ...lease };
  const manager = createManager({ client, clock, random, metrics: unreadMetrics(), leaderElection });
  manager.add(
    defineController({
      name: 'cloud-node',
      for: Nodes,
      reconcile: (context, { name }) => tend(context, name, cloud, () => true),
    }),
  );
  await manager.run(signal);
}

async function tend(
  { client, cache }: ReconcileContext,
  name: string,
  cloud: CloudView,
  isAtWork: () => boolean,
): Promise<Result> {
  const nodes = cache.lister(Nodes);
  const concerned = name === everyNode.name ? nodes.list() : [nodes.get({ name })];
  const waiting = concerned.filter((node) => node !== undefined && (isUninitialized(node) || isLost(node, cloud)));
  if (waiting.length === 0 || !isAtWork()) return done();
  for (const node of waiting) {
    if (!node) continue;
    if (isLost(node, cloud)) await client.delete(Nodes, { name: node.metadata.name! });
    else await initialize(client, node, cloud);
  }
  return done();
}

function isUninitialized(node: Node): boolean {
  return node.spec?.taints?.some(({ key }) => key === uninitializedTaint) ?? false;
}

function isLost(node: Node, cloud: CloudView): boolean {
  const isSilent = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status !== 'True') ?? false;
  return isSilent && cloud.isGone(node.status?.nodeInfo?.systemUUID ?? '');
}

async function initialize(client: Client, node: Node, cloud: CloudView): Promise<void> {
  const name = node.metadata.name!;
  const server = cloud.server(node.status?.nodeInfo?.systemUUID ?? '');
  if (!server) return;
  const zone = { 'topology.kubernetes.io/zone': server.availabilityZone, 'topology.kubernetes.io/region': 'RegionOne' };
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== uninitializedTaint);
  const addresses = [
    ...server.addresses.map((address) => ({ type: 'InternalIP', address })),
    { type: 'Hostname', address: name },
  ];
  await client.patch(Nodes, { name }, 'merge', { status: { addresses } }, { fieldManager, subresource: 'status' });
  await client.patch(
    Nodes,
    { name },
    'merge',
    {
      metadata: { labels: zone },
      spec: {
        ...(node.spec?.providerID === undefined && { providerID: `openstack:///${server.id}` }),
        taints: taints.length === 0 ? null : asJson(taints),
      },
    },
    { fieldManager },
  );
}
