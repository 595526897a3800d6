import { createHash } from 'node:crypto';
import { type Lease, Leases, type Node, Nodes } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  type Clock,
  formatMicroTime,
  ignoreNotFound,
  isAlreadyExists,
  isConflict,
  must,
} from '../../machinery/index.ts';
import { after, type ControllerDefinition, defineController } from '../../runtime/index.ts';
import { type NodeFacts, nodeObject } from './node-object.ts';

const fieldManager = 'kubelet';
const leaseNamespace = 'kube-node-lease';

/** Lease settings of a node. */
export interface NodeLease {
  readonly seconds: number;
  readonly renewMs: number;
}

/**
 * The embedded node stops together with its API, so nobody would notice a missed renewal. A long lease keeps an idle
 * host quiet.
 */
export const embeddedLease: NodeLease = { seconds: 3600, renewMs: 1_200_000 };
/** The settings of kubelets, which node controllers expect. */
export const kubeletLease: NodeLease = { seconds: 40, renewMs: 10_000 };

export interface RegistrationOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly lease: NodeLease;
  readonly facts: Omit<NodeFacts, 'machineId' | 'architecture'> & { readonly machineId?: string };
}

function factsOf({ facts }: RegistrationOptions): NodeFacts {
  return {
    ...facts,
    machineId: facts.machineId ?? createHash('sha256').update(facts.name).digest('hex').slice(0, 32),
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
  };
}

/** Node controllers annotate and taint a new node in the same moment, so writes may conflict. */
const maxAttempts = 10;

/** Creates the node, or takes it over from an earlier run of the host. */
export const registerNode = (options: RegistrationOptions): Promise<void> => untilWritten(() => writeNode(options));

async function untilWritten(write: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await write();
      return;
    } catch (error) {
      if (attempt === maxAttempts || !(isConflict(error) || isAlreadyExists(error))) throw error;
    }
  }
}

async function writeNode(options: RegistrationOptions): Promise<void> {
  const { client, clock, facts } = options;
  const before = await client.get(Nodes, { name: facts.name }).catch(ignoreNotFound);
  const desired = nodeObject(factsOf(options), clock.now(), before);
  const stored = before ?? (await client.create(Nodes, desired, { fieldManager }));
  const labels = { ...stored.metadata.labels, ...desired.metadata.labels };
  const labelled: Node = { ...stored, metadata: { ...stored.metadata, labels } };
  const current = before ? await client.update(Nodes, labelled, { fieldManager }) : stored;
  await client.update(
    Nodes,
    { ...current, status: must(desired.status, 'the status of a Node') },
    { fieldManager, subresource: 'status' },
  );
}

/**
 * Marks the node as stopped. A node without Pods is deleted. Pods of other nodes wait for its return, and node
 * controllers evict them if it does not return.
 */
export async function leaveNode(options: RegistrationOptions, hasPods: boolean): Promise<void> {
  const { client, facts } = options;
  const key = { name: facts.name };
  if (!hasPods) {
    await client.delete(Nodes, key).catch(ignoreNotFound);
    await client.delete(Leases, { namespace: leaseNamespace, ...key }).catch(ignoreNotFound);
    return;
  }
  await untilWritten(() => writeStopped(options));
}

async function writeStopped(options: RegistrationOptions): Promise<void> {
  const { client, clock, facts } = options;
  const before = await client.get(Nodes, { name: facts.name }).catch(ignoreNotFound);
  if (!before) return;
  const readiness = { isReady: false, reason: 'the program that ran this node was stopped' };
  const { status } = nodeObject(factsOf(options), clock.now(), before, readiness);
  await client
    .update(Nodes, { ...before, status: must(status, 'the status of a Node') }, { fieldManager, subresource: 'status' })
    .catch(ignoreNotFound);
}

/** Renews the node's lease, and restores the node if somebody deletes it or marks it as dead. */
export function nodeLeaseController(options: RegistrationOptions): ControllerDefinition {
  const { facts, lease } = options;
  const { name } = facts;
  return defineController({
    name: 'node-lease',
    for: Nodes,
    reconcile: async ({ client, clock, cache }, key) => {
      if (key.name !== name) return after(lease.renewMs, 'not our node');
      const node = cache.lister(Nodes).get(key);
      await renewLease(client, name, lease, clock.now());
      if (!node || !isReady(node)) await registerNode(options);
      return after(lease.renewMs, 'the lease is to be renewed');
    },
  });
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
}

async function renewLease(client: Client, name: string, { seconds, renewMs }: NodeLease, nowMs: number): Promise<void> {
  const key = { namespace: leaseNamespace, name };
  const before = await client.get(Leases, key).catch(ignoreNotFound);
  const renewedAt = Date.parse(before?.spec?.renewTime ?? '');
  // After the clock was set back, the lease must be renewed at once, or the node would look dead until the clock
  // catches up.
  if (nowMs >= renewedAt && nowMs - renewedAt < renewMs) return;
  const lease: Lease = {
    ...(before ?? { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key }),
    spec: { holderIdentity: name, leaseDurationSeconds: seconds, renewTime: formatMicroTime(nowMs) },
  };
  if (before) await client.update(Leases, lease, { fieldManager });
  else {
    await client.create(Leases, lease, { fieldManager }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}
