import { Deployments, type Lease, Leases, Pods } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { type Clock, formatLabelSelectorObject, isNotFound, parseRfc3339 } from '../../machinery/index.ts';
import { systemNamespace } from '../controller-identity.ts';
import type { RecordedManager } from './record.ts';
import { waitFor } from './wait.ts';

const by = { fieldManager: 'capstan-adoption' };
/** Time for a manager to finish its current work. */
const patienceMs = 120_000;
const hint = 'run the same command again to continue, or `capstan adopt --release` to revert';

interface Options {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Scales managers to zero and waits until all their replicas have stopped. */
export async function stopManagers(
  client: Client,
  managers: readonly RecordedManager[],
  options: Options,
): Promise<void> {
  for (const manager of managers) await scale(client, manager, 0, options.signal);
  for (const manager of managers) {
    await waitFor(() => whoWorks(client, manager, options), { ...options, patienceMs, hint });
  }
}

/** Restores the recorded numbers of replicas. */
export async function startManagers(
  client: Client,
  managers: readonly RecordedManager[],
  { signal }: Options,
): Promise<void> {
  for (const manager of managers) await scale(client, manager, manager.replicas, signal);
}

export async function scale(
  client: Client,
  { namespace, name }: Pick<RecordedManager, 'namespace' | 'name'>,
  replicas: number,
  signal: AbortSignal,
): Promise<void> {
  try {
    const key = { namespace, name };
    const { spec } = await client.get(Deployments, key, { signal });
    if ((spec.replicas ?? 1) === replicas) return;
    await client.patch(Deployments, key, 'merge', { spec: { replicas } }, { ...by, signal });
  } catch (error) {
    // The Deployment was deleted meanwhile.
    if (!isNotFound(error)) throw error;
  }
}

/** Returns what is still running of a manager. Its lease counts, too, because a manager may run outside the cluster. */
async function whoWorks(client: Client, manager: RecordedManager, options: Options): Promise<string | undefined> {
  const { namespace, name, podLabels, leases } = manager;
  const labelSelector = formatLabelSelectorObject({ matchLabels: { ...podLabels } });
  if (Object.keys(podLabels).length > 0) {
    const { items } = await client.list(Pods, { namespace, labelSelector, limit: 1, signal: options.signal });
    const [pod] = items;
    if (pod) return `Pod ${namespace}/${pod.metadata.name} of ${name} still runs`;
  }
  const isManagers = ({ metadata, spec }: Lease): boolean =>
    leases.includes(metadata.name ?? '') || spec?.holderIdentity?.startsWith(`${name}-`) === true;
  return await whoLeads(client, namespace, isManagers, options);
}

/** Waits until our controllers have stopped, both inside and outside the cluster. */
export async function waitForOwnEnd(client: Client, options: Options): Promise<void> {
  // Matches every lease, because instances that share the work or reconcile a part of it have leases of their own.
  const isOurs = (): boolean => true;
  await waitFor(() => whoLeads(client, systemNamespace, isOurs, options), {
    ...options,
    patienceMs: 60_000,
    hint: 'a `capstan controller` works for this cluster from outside: stop it, and run the same command again',
  });
}

/** Describes a lease that is held; undefined if there is none. */
async function whoLeads(
  client: Client,
  namespace: string,
  isConcerned: (lease: Lease) => boolean,
  { clock, signal }: Options,
): Promise<string | undefined> {
  const { items } = await client.list(Leases, { namespace, signal });
  const held = items.find((lease) => isConcerned(lease) && isHeld(lease, clock.now()));
  return held && `${held.spec?.holderIdentity} still holds the lease ${namespace}/${held.metadata.name}`;
}

function isHeld({ spec }: Lease, nowMs: number): boolean {
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 0 } = spec ?? {};
  const renewed = parseRfc3339(renewTime ?? '');
  return holderIdentity !== '' && renewed !== undefined && renewed + leaseDurationSeconds * 1000 > nowMs;
}
