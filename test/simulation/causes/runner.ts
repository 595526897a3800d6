import { expect } from 'vitest';
import { Clusters, Gateways, Machines, Secrets } from '../../../src/api/index.ts';
import { readCluster } from '../../../src/cli/describe/cluster-objects.ts';
import { registryMapper } from '../../../src/cli/testing/memory-api.ts';
import { causeInside } from '../../../src/cli/why/cause-inside.ts';
import { type Cause, causeOfCluster } from '../../../src/cli/why/first-cause.ts';
import type { Client } from '../../../src/client/index.ts';
import { connectInProcess } from '../../../src/simulator/index.ts';
import { type ClusterSpec, type Manifest, manifestsOf, namespace } from '../cluster-manifests.ts';
import { hostedManifests } from '../hosted-manifests.ts';
import { by, type System } from '../system.ts';
import { type CausedFault, disagreements } from './fault.ts';
import type { PlaneFault } from './wrong-planes.ts';

const minute = 60_000;
const hour = 60 * minute;
/** A console is read when its machine is five minutes late, and the machine booted before that. */
const patienceMs = 20 * minute;

/** A cluster of one machine, unless the fault needs more. */
export function desiredFor(fault: CausedFault, index: number): ClusterSpec {
  return {
    name: `c${index}x`,
    index,
    endpoint: 'floating-ip',
    controlPlanes: 1,
    workers: 0,
    version: 'v1.33.6',
    flavor: 'm1.medium',
    bootFromVolume: false,
    healthCheck: false,
    ...fault.cluster,
  };
}

/** Returns the answer of `capstan why` for a cluster. */
export async function whyOf(system: System, name: string): Promise<Cause | undefined> {
  const { signal } = new AbortController();
  const { client, server, clock } = system;
  const connection = {
    client,
    mapper: registryMapper(server),
    namespace,
    namespaceGiven: false,
    where: 'a simulation',
    serverVersion: async () => 'v1.34.0',
  };
  const found = await readCluster(connection, name, { resourceSets: false, signal });
  const cause = causeOfCluster(found);
  if (cause) return cause;
  const machines = found.objects.filter(({ kind }) => kind === 'Machine');
  const workload = await workloadOf(system, name);
  const read = async (): Promise<string> => 'ok';
  const running = { name, namespace, client, found, machines, nowMs: clock.now(), workload, read, authUrl: undefined };
  return await causeInside(running, signal);
}

export async function workloadOf({ client, cloud }: System, name: string): Promise<Client> {
  const { data } = await client.get(Secrets, { namespace, name: `${name}-kubeconfig` });
  const kubeconfig = Buffer.from(data?.['value'] ?? '', 'base64').toString();
  return (await connectInProcess(cloud.network)(kubeconfig)).client;
}

export async function create({ client }: System, manifests: readonly Manifest[]): Promise<void> {
  for (const { resource, object } of manifests) await client.create(resource, object, by);
}

export function brokenManifests(fault: CausedFault, index: number): Manifest[] {
  const desired = desiredFor(fault, index);
  const whole = manifestsOf(desired);
  return fault.manifests?.(whole, desired.name) ?? whole;
}

/** Applies a fault to its own cluster and checks the answer. */
export async function befall(system: System, fault: CausedFault, index: number): Promise<void> {
  const desired = desiredFor(fault, index);
  const { name } = desired;
  await fault.before?.(system, name);
  await create(system, brokenManifests(fault, index));
  if (fault.strike) {
    await untilWhole(system, desired);
    await fault.strike({ system, name, workload: () => workloadOf(system, name) });
  }
  await system.pass(patienceMs);
  await expectAnswer(system, fault, name);
  await fault.after?.(system, name);
  // Deletion continues while other tests run.
  await system.client.delete(Clusters, { namespace, name }).catch(() => {});
}

/** Checks the answer twice, because the first cause must be stable. */
export async function expectAnswer(system: System, { says }: Pick<CausedFault, 'says'>, name: string): Promise<void> {
  expect(disagreements(await whyOf(system, name), says, name)).toEqual([]);
  await system.pass(10 * minute);
  expect(disagreements(await whyOf(system, name), says, name)).toEqual([]);
}

/** The same for a control plane in Pods. */
export async function befallPlane(system: System, fault: PlaneFault, index: number): Promise<void> {
  const name = `p${index}x`;
  const { kind } = fault;
  const version = 'v1.33.6';
  const whole = hostedManifests({
    name,
    kind,
    replicas: 1,
    workers: 1,
    version,
    workerVersion: version,
    deletesVolumes: true,
  });
  await fault.before?.(system, name);
  for (const { resource, object } of fault.manifests?.(whole, name) ?? whole) {
    await system.client.create(resource, object, by);
  }
  await system.pass(patienceMs);
  await expectAnswer(system, fault, name);
  await fault.after?.(system, name);
  await system.client.delete(Clusters, { namespace, name }).catch(() => {});
  await system.client.delete(Gateways, { namespace, name: 'planes' }).catch(() => {});
}

async function untilWhole(system: System, { name, controlPlanes, workers }: ClusterSpec): Promise<void> {
  let events = 0;
  const isWhole = async (): Promise<boolean> => {
    const { items } = await system.client.list(Machines, { namespace });
    const own = items.filter(({ spec }) => spec.clusterName === name);
    const isReady = own.every(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
    return own.length === controlPlanes + workers && isReady;
  };
  await system.until(async () => events++ % 10 === 0 && (await isWhole()), hour);
  expect(await isWhole()).toBe(true);
}
