import type { Cluster } from '../../../api/index.ts';
import { isHookPending, type Verdict } from '../../shared/index.ts';
import type { TopologyCluster } from '../common.ts';
import { isComplete, type UpgradeProgress } from '../upgrade/sequence.ts';

const maxNames = 3;

function list(one: string, many: string, names: Iterable<string>): string {
  const sorted = [...names].sort();
  if (sorted.length === 1) return `${one} ${sorted[0]}`;
  const more = sorted.length > maxNames ? `, ... (${sorted.length - maxNames} more)` : '';
  return `${many} ${sorted.slice(0, maxNames).join(', ')}${more}`;
}

const deployments = (names: Iterable<string>): string => list('MachineDeployment', 'MachineDeployments', names);

const laterSteps = (plan: readonly string[], version: string): string => {
  const rest = plan.filter((step) => step !== version);
  return rest.length > 0 ? ` (${rest.join(', ')} pending)` : '';
};

/** Builds the verdict of a reconciled topology: done, or what it waits for. */
export function topologyVerdict(
  cluster: TopologyCluster,
  input: { progress: UpgradeProgress; planeKind: string; planeVersion: string; notes: readonly string[] },
): Verdict {
  const { progress, planeKind, planeVersion, notes } = input;
  const { plane, plan, upgrading, pending, deferred, notCreated, blocked } = progress;
  const isAtRest =
    isComplete({ ...progress, plane: { ...plane, isProvisioning: false } }) &&
    !isHookPending(cluster, 'AfterClusterUpgrade');
  if (isAtRest) {
    return { status: 'True', reason: 'ReconcileSucceeded', ...(notes.length > 0 && { message: notes.join('\n') }) };
  }
  const lines = [`Cluster is upgrading to ${cluster.spec.topology.version}`];
  let reason = 'ClusterUpgrading';
  for (const { hook, message } of blocked) lines.push(`hook ${hook}: ${message}`);
  const planeMoves = plane.isStarting || plane.isUpgrading;
  if (planeMoves) {
    lines.push(`${planeKind} upgrading to version ${planeVersion}${laterSteps(plan.controlPlane, planeVersion)}`);
  } else if (plan.controlPlane.length > 0) {
    lines.push(`${planeKind} pending upgrade to version ${plan.controlPlane.join(', ')}`);
  }
  if (upgrading.size > 0) {
    lines.push(
      `${deployments(upgrading)} upgrading to version ${planeVersion}${laterSteps(plan.workers, planeVersion)}`,
    );
  }
  const waiting = [...pending].filter((name) => !upgrading.has(name));
  if (waiting.length > 0 && plan.workers.length > 0) {
    lines.push(`${deployments(waiting)} pending upgrade to version ${plan.workers.join(', ')}`);
  }
  if (deferred.size > 0) {
    lines.push(
      `${deployments(deferred)} upgrade to version ${planeVersion} deferred using defer-upgrade or hold-upgrade-sequence annotations`,
    );
    const nothingElse =
      blocked.length === 0 && !planeMoves && !plane.isPending && upgrading.size + waiting.length === 0;
    if (nothingElse) reason = 'MachineDeploymentsUpgradeDeferred';
  }
  if (notCreated.size > 0) {
    lines.push(`${deployments(notCreated)} creation deferred while control plane upgrade is in progress`);
  }
  const [first, ...rest] = [...lines, ...notes];
  return { status: 'False', reason, message: [first, ...rest.map((line) => `  * ${line}`)].join('\n') };
}

/** Writes the upgrade plan to the status, or removes it. */
export function notePlan(draft: Cluster, { plan }: UpgradeProgress): void {
  for (const [part, versions] of [
    ['controlPlane', plan.controlPlane],
    ['workers', plan.workers],
  ] as const) {
    const { upgradePlan: _, ...counts } = draft.status?.[part] ?? {};
    const next = versions.length > 0 ? { ...counts, upgradePlan: versions.map((version) => ({ version })) } : counts;
    const status = { ...draft.status };
    if (Object.keys(next).length > 0) status[part] = next;
    else delete status[part];
    draft.status = status;
  }
}
