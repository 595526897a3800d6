import {
  type Machine,
  Machines,
  type OpenStackCluster,
  OpenStackMachines,
  OpenStackServers,
} from '../../../api/index.ts';
import { ipFamily } from '../../../machinery/index.ts';
import type { FloatingIp } from '../../../openstack/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import { conditionOf, isDeleting } from '../../shared/index.ts';
import { notReady, readyVerdict } from '../common/conditions.ts';
import { floatingIpAnnotation } from '../common/names.ts';
import { attempt, CloudFault } from '../common/outcomes.ts';
import type { CloudView } from '../common/view.ts';
import { fixedAddressOn, type NodeAddress } from '../server/addresses.ts';
import { type Candidate, chooseHolder } from './api-address-holder.ts';
import { byControlPlaneOf } from './indexes.ts';
import { usesLoadBalancer } from './load-balancer-members.ts';
import { apiServerIngressCondition, floatingIpErrorReason } from './names.ts';
import { judge, type WholeScope } from './scope.ts';

/** Shorter API server failures may be restarts. */
const deadAfterMs = 60_000;
const movingMs = 1_000;
const foreignMs = 60_000;

/** Returns the floating IP of the cluster's API; undefined if the API uses another address. */
export function apiFloatingIp({ spec }: OpenStackCluster): string | undefined {
  if (spec.apiServer?.enableFloatingIP === false || spec.enableExternalNetwork === false) return undefined;
  const host = spec.controlPlaneEndpoint?.host;
  return host !== undefined && ipFamily(host) !== undefined ? host : spec.apiServer?.floatingIP;
}

/**
 * Attaches the API's floating IP to a machine that serves the API. The reconcile of any control plane machine may do
 * it, because the decision uses the state of all of them.
 */
export async function placeFloatingIp(scope: WholeScope): Promise<Result | undefined> {
  const { openStackCluster, context, memories } = scope;
  const address = apiFloatingIp(openStackCluster);
  if (usesLoadBalancer(openStackCluster) || address === undefined) return undefined;
  const memory = memories.of(openStackCluster.metadata.uid ?? '');
  const found = await findFloatingIp(scope, address);
  if (!found) return missing(scope, address);
  const { openstack, view } = await scope.cloud();
  // no await between here and the call, so the decision uses consistent state
  if (memory.isMoving) return after(movingMs, 'the floating IP is being moved');
  const floatingIp = view.current('floatingIp', found.id) ?? found;
  scope.follows.push({ type: 'floatingIp', id: floatingIp.id });
  const { candidates, recheckMs } = candidatesOf(scope);
  const holding = chooseHolder(floatingIp.portId, candidates);
  const again = recheckMs === undefined ? undefined : after(recheckMs, 'an API server does not answer');
  if (holding.kind === 'foreign') {
    throw new CloudFault(
      floatingIpErrorReason,
      `Floating IP ${address} of the API leads to port ${holding.portId}, which is of no control-plane machine; take it off that port`,
      { retryMs: foreignMs },
    );
  }
  if (holding.kind === 'stay') {
    report(scope, floatingIp, candidates);
    return again;
  }
  const { to } = holding;
  memory.isMoving = true;
  try {
    const doing = `Floating IP ${address} cannot be associated with machine ${to.name}`;
    const moved = await attempt(doing, floatingIpErrorReason, () =>
      openstack.network.floatingIps.update(
        floatingIp.id,
        { portId: to.portId, fixedAddress: fixedAddressOf(scope, view, to.name) },
        { signal: context.signal },
      ),
    );
    view.remember('floatingIp', moved);
    const text = `Associated floating IP ${address} with machine ${to.name}`;
    context.events.event(scope.machine, 'Normal', 'Successfulassociatefloatingip', text);
    report(scope, moved, candidates);
  } finally {
    memory.isMoving = false;
  }
  return again;
}

/** Handles a missing address: a user-specified endpoint may be any address, but one reserved for the API must exist. */
function missing(scope: WholeScope, address: string): Result | undefined {
  const { openStackCluster, memories } = scope;
  const isReserved = openStackCluster.metadata.annotations?.[floatingIpAnnotation('api')] !== undefined;
  if (!isReserved && memories.of(openStackCluster.metadata.uid ?? '').noFloatingIp?.wasThere !== true) return undefined;
  judge(
    scope,
    apiServerIngressCondition,
    notReady(
      floatingIpErrorReason,
      `Floating IP ${address} of the API does not exist in this project any more; OpenStackCluster ${openStackCluster.metadata.name ?? ''} tells how to get it back`,
    ),
  );
  return after(foreignMs, 'the floating IP of the API is gone');
}

/** Only set for ports with several addresses, for which Neutron requires it. */
function fixedAddressOf(scope: WholeScope, view: CloudView, name: string): string | undefined {
  const { context, machine, openStackCluster } = scope;
  const { namespace = '' } = machine.metadata;
  const { resolved, instanceID } = context.cache.lister(OpenStackServers).get({ namespace, name })?.status ?? {};
  if (!resolved?.ports?.some(({ fixedIPs }) => (fixedIPs?.length ?? 0) > 1)) return undefined;
  const server = view.current('server', instanceID ?? '');
  return server && fixedAddressOn(server, openStackCluster.status?.network?.name ?? '');
}

function report(scope: WholeScope, { address, portId }: FloatingIp, candidates: readonly Candidate[]): void {
  const holder = candidates.find((candidate) => candidate.portId !== undefined && candidate.portId === portId);
  judge(
    scope,
    apiServerIngressCondition,
    holder
      ? readyVerdict
      : notReady(floatingIpErrorReason, `Floating IP ${address} waits for a control-plane machine that runs`),
  );
  showAddress(scope.machine, address, holder?.name === scope.machine.metadata.name);
}

/** Corrects the addresses of both machines; Nova shows a moved address only after a while. */
function showAddress(machine: WholeScope['machine'], address: string, isHere: boolean): void {
  const shown = machine.status?.addresses ?? [];
  const isShown = shown.some((entry) => entry.type === 'ExternalIP' && entry.address === address);
  if (isShown === isHere) return;
  const others = shown.filter((entry) => entry.address !== address);
  machine.status = { ...machine.status, addresses: isHere ? withExternalAddress(others, address) : others };
}

/** Inserts the address where `addressesOf` puts it once Nova reports it, so that the list does not change again. */
function withExternalAddress(addresses: readonly NodeAddress[], address: string): NodeAddress[] {
  const names = addresses.filter(({ type }) => type === 'InternalDNS');
  const others = addresses.filter(({ type }) => type !== 'InternalDNS');
  return [...others, { type: 'ExternalIP', address }, ...names];
}

/** Reads by id once known; the shared lists keep it current. */
async function findFloatingIp(scope: WholeScope, address: string): Promise<FloatingIp | undefined> {
  const { openStackCluster, context, memories } = scope;
  const memory = memories.of(openStackCluster.metadata.uid ?? '');
  const { openstack, view, projectId } = await scope.cloud();
  const { signal } = context;
  const known = memory.floatingIp;
  const absent = memory.noFloatingIp;
  if (absent?.address === address && absent.untilMs > context.clock.now()) return undefined;
  const found = await attempt(`Floating IP ${address} cannot be read`, floatingIpErrorReason, async () =>
    known?.address === address
      ? await view.read('floatingIp', known.id, signal)
      : await openstack.network.floatingIps.find(address, { signal }),
  );
  memory.floatingIp = found && { address, id: found.id };
  if (found?.projectId === projectId) {
    if (known?.address !== address) view.remember('floatingIp', found);
    return found;
  }
  if (openStackCluster.spec.apiServer?.floatingIP !== address) {
    const wasThere = known?.address === address || (absent?.address === address && absent.wasThere);
    memory.noFloatingIp = { address, untilMs: context.clock.now() + foreignMs, wasThere };
    return undefined;
  }
  throw new CloudFault(
    floatingIpErrorReason,
    `Floating IP ${address} does not exist in this project; create it, or let the cluster choose its address`,
    { retryMs: foreignMs },
  );
}

function candidatesOf(scope: WholeScope): { candidates: Candidate[]; recheckMs: number | undefined } {
  const { context, cluster, openStackCluster } = scope;
  const { namespace = '', name = '' } = cluster.metadata;
  const networkId = openStackCluster.status?.network?.id;
  const now = context.clock.now();
  let recheckMs: number | undefined;
  const owners = context.cache.lister(Machines).byIndex(byControlPlaneOf, `${namespace}/${name}`);
  const candidates = owners.flatMap((owner): Candidate[] => {
    const key = { namespace, name: owner.spec.infrastructureRef.name };
    const machine = context.cache.lister(OpenStackMachines).get(key);
    const server = context.cache.lister(OpenStackServers).get(key);
    if (!machine) return [];
    const { answers, doubtMs } = answersOf(owner, now);
    if (doubtMs !== undefined) recheckMs = Math.min(doubtMs, recheckMs ?? doubtMs);
    const ports = server?.status?.resolved?.ports ?? [];
    const at = Math.max(
      0,
      ports.findIndex(({ networkID }) => networkID === networkId),
    );
    return [
      {
        name: key.name,
        createdAt: owner.metadata.creationTimestamp ?? '',
        portId: server?.status?.resources?.ports?.[at]?.id,
        isLeaving: isDeleting(owner) || isDeleting(machine),
        isOutdated: conditionOf(owner, 'UpToDate')?.reason === 'NotUpToDate',
        isRunning: server?.status?.instanceState === 'ACTIVE' && !isDeleting(server),
        hasJoined: owner.status?.nodeRef !== undefined,
        answers,
      },
    ];
  });
  return { candidates, recheckMs };
}

/**
 * Judges from the machine's conditions whether its API server answers; `doubtMs` is the time until a failure counts.
 */
function answersOf(machine: Machine, nowMs: number): { answers: boolean | undefined; doubtMs?: number } {
  const health = conditionOf(machine, 'APIServerPodHealthy') ?? conditionOf(machine, 'NodeReady');
  if (health?.status === 'True') return { answers: true };
  if (health?.status !== 'False' || conditionOf(machine, 'APIServerPodHealthy') === undefined) {
    return { answers: undefined };
  }
  const failingMs = nowMs - Date.parse(health.lastTransitionTime ?? '');
  return failingMs >= deadAfterMs ? { answers: false } : { answers: undefined, doubtMs: deadAfterMs - failingMs };
}
