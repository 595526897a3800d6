import {
  type Cluster,
  ClusterResourceSets,
  Clusters,
  type LatticeCluster,
  type LatticePoolStatus,
  type LatticeSettings,
  latticeNamespace,
  latticePoolName,
  type MachineDeployment,
  MachineDeployments,
} from '../../api/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import { conditionOf, isTrue, setVerdict, type Verdict } from '../shared/index.ts';
import { latticeConditions as types } from './conditions.ts';
import { addonsName } from './names.ts';
import type { PlaneCounts } from './plane.ts';

interface Observation {
  readonly cache: CacheReader;
  readonly plane: PlaneCounts | undefined;
  /** why pools stay unchanged */
  readonly heldPools: string | undefined;
  readonly nowMs: number;
}

/** Lists what a LatticeCluster still lacks, most important first; empty if ready. */
export function observe(
  draft: LatticeCluster,
  settings: LatticeSettings,
  { cache, plane, heldPools, nowMs }: Observation,
): string[] {
  const name = draft.metadata.name ?? '';
  const namespace = latticeNamespace(name);
  const cluster = cache.lister(Clusters).get({ namespace, name });
  const waiting: string[] = [];
  const say = (type: string, verdict: Verdict): void => {
    setVerdict(draft, type, verdict, nowMs);
    if (verdict.status !== 'True' && verdict.message) waiting.push(verdict.message);
  };
  say(types.infrastructure, infrastructure(cluster));
  say(types.controlPlane, controlPlane(cluster, settings, plane));
  const set = cache.lister(ClusterResourceSets).get({ namespace, name: addonsName(name) });
  const isUp = cluster?.status?.initialization?.controlPlaneInitialized === true;
  const applied = conditionOf(set, 'ResourcesApplied');
  say(
    types.addons,
    isUp && applied?.status === 'True'
      ? { status: 'True', reason: 'Applied' }
      : {
          status: 'False',
          reason: isUp ? (applied?.reason ?? 'NotApplied') : 'WaitingForControlPlane',
          message: `add-ons: ${isUp ? applied?.message || 'not applied yet' : 'wait for the control plane'}`,
        },
  );
  const pools = settings.pools.map((pool) => {
    const live = cache.lister(MachineDeployments).get({ namespace, name: latticePoolName(name, pool.id) });
    return [
      pool.id,
      poolStatus(live, pool.pool.replicas, { isAutoscaled: pool.bounds !== undefined, heldPools }),
    ] as const;
  });
  say(types.workers, workers(pools));
  draft.status = {
    ...draft.status,
    readyControlPlane: plane?.ready ?? draft.status?.readyControlPlane ?? 0,
    readyWorkers: pools.reduce((sum, [, { readyReplicas = 0 }]) => sum + readyReplicas, 0),
    workerPools: Object.fromEntries(pools),
  };
  const { host, port } = cluster?.spec.controlPlaneEndpoint ?? {};
  if (host) draft.status.endpoint = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  else delete draft.status.endpoint;
  return waiting;
}

function infrastructure(cluster: Cluster | undefined): Verdict {
  if (isTrue(cluster, 'InfrastructureReady')) return { status: 'True', reason: 'Ready' };
  const said = conditionOf(cluster, 'InfrastructureReady');
  return {
    status: 'False',
    reason: said?.reason ?? 'NotReady',
    message: `infrastructure: ${said?.message || 'network and load balancer do not exist yet'}`,
  };
}

function controlPlane(
  cluster: Cluster | undefined,
  { controlPlane: { replicas }, version }: LatticeSettings,
  plane: PlaneCounts | undefined,
): Verdict {
  const { ready = 0, upToDate = 0 } = plane ?? {};
  const isDone = plane?.replicas === replicas && ready === replicas && upToDate === replicas;
  if (isDone && isTrue(cluster, 'ControlPlaneAvailable')) return { status: 'True', reason: 'Ready' };
  const said = conditionOf(cluster, 'ControlPlaneAvailable');
  const surplus = (plane?.replicas ?? 0) > replicas ? `, ${(plane?.replicas ?? 0) - replicas} more is to go` : '';
  const more = said?.status === 'True' || !said?.message ? '' : `: ${said.message}`;
  return {
    status: 'False',
    reason: 'NotReady',
    message: `control plane: ${ready} of ${replicas} machines are ready, ${upToDate} have ${version} and the current settings${surplus}${more}`,
  };
}

function poolStatus(
  live: MachineDeployment | undefined,
  replicas: number,
  { isAutoscaled, heldPools }: { isAutoscaled: boolean; heldPools: string | undefined },
): LatticePoolStatus {
  const desired = isAutoscaled ? (live?.spec.replicas ?? 0) : replicas;
  const { replicas: current = 0, readyReplicas = 0, upToDateReplicas = 0 } = live?.status ?? {};
  const isSeen = live !== undefined && live.status?.observedGeneration === live.metadata.generation;
  const isDone = isSeen && current === desired && readyReplicas === desired && upToDateReplicas === desired;
  const said = conditionOf(live, 'Available');
  const why = said?.status === 'False' && said.message ? `: ${said.message}` : '';
  return {
    desiredReplicas: desired,
    currentReplicas: current,
    readyReplicas,
    autoscalingEnabled: isAutoscaled,
    ...((!isDone || heldPools !== undefined) && {
      message: heldPools ?? `${readyReplicas} of ${desired} nodes are ready, ${upToDateReplicas} up to date${why}`,
    }),
  };
}

function workers(pools: readonly (readonly [id: string, status: LatticePoolStatus])[]): Verdict {
  const late = pools.flatMap(([id, { message }]) => (message === undefined ? [] : [`pool ${id}: ${message}`]));
  if (late.length === 0) return { status: 'True', reason: 'Ready' };
  return { status: 'False', reason: 'NotReady', message: late.join('; ') };
}
