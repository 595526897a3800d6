import { type Node, Nodes } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { asJson, deepEqual, must } from '../../../../machinery/index.ts';
import { isNotFound, type Server } from '../../../../openstack/index.ts';
import { after, type ControllerDefinition, defineController, done, foreignReason } from '../../../../runtime/index.ts';
import { uninitializedTaint } from '../../../names.ts';
import { klog } from '../../klog.ts';
import { type CloudControllerRun, fieldManager } from './run.ts';

const shutdownTaint = { key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' };
/** Retry interval for a missing server or a silent node. */
const lookMs = 5_000;

/** Initializes new Nodes with their server id and addresses, and removes the taint that keeps Pods away until then. */
export function nodeController(run: CloudControllerRun): ControllerDefinition {
  return defineController({
    name: 'cloud-node',
    for: Nodes,
    async reconcile({ client, cache, events, signal }, { name }) {
      const node = cache.lister(Nodes).get({ name });
      if (!node || !isUninitialized(node)) return done();
      const server = await serverOf(run, node, signal);
      if (!server) {
        klog(
          run.process,
          'E',
          'node_controller.go:244',
          `Error getting instance metadata for node addresses: instance not found: ${name}`,
        );
        return after(lookMs, 'waiting for the server');
      }
      await initialize(run, client, node, server);
      klog(run.process, 'I', 'node_controller.go:502', `Successfully initialized node ${name} with cloud provider`);
      events.event(node, 'Normal', foreignReason('Synced'), 'Node synced successfully');
      return done();
    },
  });
}

/** Deletes Nodes whose server is gone, and taints those whose server is shut off. */
export function nodeLifecycleController(run: CloudControllerRun): ControllerDefinition {
  return defineController({
    name: 'cloud-node-lifecycle',
    for: Nodes,
    async reconcile({ client, cache, events, signal }, { name }) {
      const node = cache.lister(Nodes).get({ name });
      if (!node || node.metadata.deletionTimestamp !== undefined || isUninitialized(node)) return done();
      const isSilent = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status !== 'True');
      const isMarked = node.spec?.taints?.some(({ key }) => key === shutdownTaint.key) ?? false;
      if (!isSilent) {
        if (isMarked) await mark(client, node, { isOff: false });
        return done();
      }
      const server = await serverOf(run, node, signal);
      if (!server) {
        klog(
          run.process,
          'I',
          'node_lifecycle_controller.go:171',
          `deleting node since it is no longer present in cloud provider: ${name}`,
        );
        const message = `Deleting node ${name} because it does not exist in the cloud provider`;
        events.event(node, 'Normal', foreignReason('DeletingNode'), message);
        await client.delete(Nodes, { name });
        return done();
      }
      const isOff = server.status === 'SHUTOFF';
      if (isOff !== isMarked) await mark(client, node, { isOff });
      return after(lookMs, 'the node is not ready');
    },
  });
}

function isUninitialized(node: Node): boolean {
  return node.spec?.taints?.some(({ key }) => key === uninitializedTaint) ?? false;
}

/** Finds the server of a Node: by its provider id, else by its name. */
async function serverOf({ cloud }: CloudControllerRun, node: Node, signal: AbortSignal): Promise<Server | undefined> {
  const { servers } = cloud.compute;
  const id = /^openstack:\/\/[^/]*\/([^/]+)$/.exec(node.spec?.providerID ?? '')?.[1];
  if (id === undefined) return await servers.find(node.metadata.name ?? '', undefined, { signal });
  try {
    return await servers.get(id, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function initialize(run: CloudControllerRun, client: Client, node: Node, server: Server): Promise<void> {
  const name = must(node.metadata.name, 'metadata.name');
  const addresses = nodeAddresses(server, name);
  if (!deepEqual(asJson(node.status?.addresses ?? []), asJson(addresses))) {
    const status = { addresses: asJson(addresses) };
    await client.patch(Nodes, { name }, 'merge', { status }, { fieldManager, subresource: 'status' });
  }
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== uninitializedTaint);
  const { region } = run;
  const zone = server.availabilityZone;
  const type = server.flavor.name ?? server.flavor.id;
  const labels = {
    ...(type !== undefined && { 'node.kubernetes.io/instance-type': type, 'beta.kubernetes.io/instance-type': type }),
    ...(zone !== undefined && {
      'topology.kubernetes.io/zone': zone,
      'failure-domain.beta.kubernetes.io/zone': zone,
    }),
    ...(region !== undefined && {
      'topology.kubernetes.io/region': region,
      'failure-domain.beta.kubernetes.io/region': region,
    }),
  };
  const providerId = `openstack://${run.isRegional ? (region ?? '') : ''}/${server.id}`;
  await client.patch(
    Nodes,
    { name },
    'merge',
    {
      metadata: { labels },
      spec: {
        ...(!node.spec?.providerID && { providerID: providerId }),
        taints: taints.length === 0 ? null : asJson(taints),
      },
    },
    { fieldManager },
  );
}

/** Fixed addresses are internal, floating ones external. */
export function nodeAddresses(server: Server, name: string): { type: string; address: string }[] {
  const addresses = Object.values(server.addresses)
    .flat()
    .filter(({ version }) => version === 4)
    .map(({ address, type }) => ({ type: type === 'floating' ? 'ExternalIP' : 'InternalIP', address }));
  return [...addresses, { type: 'Hostname', address: name }];
}

async function mark(client: Client, node: Node, { isOff }: { isOff: boolean }): Promise<void> {
  const others = (node.spec?.taints ?? []).filter(({ key }) => key !== shutdownTaint.key);
  const taints = isOff ? [...others, shutdownTaint] : others;
  const spec = { taints: taints.length === 0 ? null : asJson(taints) };
  await client.patch(Nodes, { name: must(node.metadata.name, 'metadata.name') }, 'merge', { spec }, { fieldManager });
}
