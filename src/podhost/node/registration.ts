import { createHash } from 'node:crypto';
import { type Lease, Leases, type Node, Nodes } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { type Clock, formatMicroTime, isAlreadyExists, isNotFound, must } from '../../machinery/index.ts';
import { after, type ControllerDefinition, defineController } from '../../runtime/index.ts';
import { type NodeFacts, nodeObject } from './node-object.ts';

const fieldManager = 'kubelet';
const leaseNamespace = 'kube-node-lease';
/**
 * The node lives and dies with the API it is written in: nobody is left to notice a silence, and a host at rest is to be
 * quiet. So its lease is long.
 */
const leaseSeconds = 3600;
const renewMs = (leaseSeconds * 1000) / 3;

export interface RegistrationOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly facts: Omit<NodeFacts, 'machineId' | 'architecture'>;
}

/** Makes the node known, or takes it over from an earlier run of the host. */
export async function registerNode({ client, clock, facts }: RegistrationOptions): Promise<void> {
  const whole: NodeFacts = {
    ...facts,
    machineId: createHash('sha256').update(facts.name).digest('hex').slice(0, 32),
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
  };
  const before = await client.get(Nodes, { name: facts.name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  const desired = nodeObject(whole, clock.now(), before);
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

/** Keeps the lease of the node, and the node itself should somebody delete it. */
export function nodeLeaseController(options: RegistrationOptions): ControllerDefinition {
  const { name } = options.facts;
  return defineController({
    name: 'node-lease',
    for: Nodes,
    reconcile: async ({ client, clock, cache }, key) => {
      if (key.name !== name) return after(renewMs, 'not our node');
      if (!cache.lister(Nodes).get(key)) await registerNode(options);
      await renewLease(client, name, clock.now());
      return after(renewMs, 'the lease is to be renewed');
    },
  });
}

async function renewLease(client: Client, name: string, nowMs: number): Promise<void> {
  const key = { namespace: leaseNamespace, name };
  const before = await client.get(Leases, key).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  const renewedAt = Date.parse(before?.spec?.renewTime ?? '');
  if (nowMs - renewedAt < renewMs) return;
  const lease: Lease = {
    ...(before ?? { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key }),
    spec: { holderIdentity: name, leaseDurationSeconds: leaseSeconds, renewTime: formatMicroTime(nowMs) },
  };
  if (before) await client.update(Leases, lease, { fieldManager });
  else {
    await client.create(Leases, lease, { fieldManager }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
}
