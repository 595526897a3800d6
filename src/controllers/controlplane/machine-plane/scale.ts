import { type Machine, Machines } from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import { after, done, type Result } from '../../../runtime/index.ts';
import { explain } from '../../shared/index.ts';
import { EtcdError } from '../etcd-client/types.ts';
import { type PlannedChange, type PreflightInput, preflightProblems } from './decisions/preflight.ts';
import { labelOf } from './decisions/quorum.ts';
import { controlPlaneDomains, domainForNewMachine, machineToRemove } from './decisions/selection.ts';
import { membersOf, moveLeadershipAway } from './etcd/operations.ts';
import { unknownMembersOf } from './health/machine-health.ts';
import { createControlPlaneMachine } from './machines/create-machine.ts';
import { remediationInProgressAnnotation } from './names.ts';
import { type ControlPlaneScope, isEtcdManaged, isInitialized, nameOf, requeueAfter, waitBecause } from './scope.ts';

const preflightRetryMs = 15_000;

/** Scales towards spec.replicas, one machine at a time. */
export async function scaleToReplicas(scope: ControlPlaneScope): Promise<Result | undefined> {
  const desired = scope.controlPlane.spec.replicas ?? 1;
  const count = scope.machines.length;
  if (count === 0 && desired > 0) return await initialize(scope);
  if (count < desired) return await scaleUp(scope);
  if (count > desired) return await scaleDown(scope);
  return undefined;
}

/** Creates the first machine. */
export async function initialize(scope: ControlPlaneScope): Promise<Result | undefined> {
  if (scope.missingTemplate) return done();
  if (!scope.certificatesAvailable) {
    waitBecause(scope, ['cluster certificates are missing or unknown'], []);
    return after(preflightRetryMs, 'the certificates of the cluster');
  }
  await createControlPlaneMachine(scope, { role: 'init', failureDomain: newDomain(scope) });
  return done();
}

export async function scaleUp(scope: ControlPlaneScope): Promise<Result | undefined> {
  if (scope.missingTemplate) return done();
  const replacesRemediated = scope.controlPlane.metadata.annotations?.[remediationInProgressAnnotation] !== undefined;
  const plain = { kind: 'add', replacesRemediated: false, replacesLast: false } as const;
  if (!mayChange(scope, plain, replacesRemediated ? { ...plain, replacesRemediated } : undefined)) return done();
  await addMachine(scope);
  return done();
}

export async function addMachine(scope: ControlPlaneScope): Promise<void> {
  await createControlPlaneMachine(scope, { role: 'join', failureDomain: newDomain(scope) });
}

function newDomain({ cluster, machines: all, outdated }: ControlPlaneScope): string | undefined {
  return domainForNewMachine(controlPlaneDomains(cluster.status?.failureDomains), all, new Set(outdated.keys()));
}

/** Deletes one machine, the best candidate for removal. */
export async function scaleDown(scope: ControlPlaneScope): Promise<Result | undefined> {
  const { context, controlPlane } = scope;
  const machine = leastMissed(scope);
  if (!machine || !mayChange(scope, { kind: 'remove', machine })) return done();
  if (isEtcdManaged(scope)) {
    try {
      await moveLeadershipAway(scope, machine);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      waitBecause(scope, ['waiting for etcd cluster to become healthy'], [explain(error)]);
      return after(preflightRetryMs, 'etcd keeps its leader');
    }
  }
  await deleteMachine(scope, machine);
  context.events.event(controlPlane, 'Normal', 'SuccessfulDelete', `Deleted Machine "${nameOf(machine)}"`);
  return done();
}

/** Tells whether all machines are healthy, including the one to be changed. */
export function isSteady(scope: ControlPlaneScope): boolean {
  const change = { kind: 'add', replacesRemediated: false, replacesLast: false } as const;
  return preflightProblems(preflightInput(scope), change).details.length === 0;
}

/** Picks the machine to delete next. */
export function leastMissed(scope: ControlPlaneScope): Machine | undefined {
  const { cluster, health, outdated } = scope;
  return machineToRemove({
    machines: scope.machines,
    outdated: new Set(outdated.keys()),
    unhealthy: new Set(
      scope.machines.map(nameOf).filter((name) => {
        const one = health.get(name);
        return !one?.componentsHealthy || (isEtcdManaged(scope) && !one.memberHealthy);
      }),
    ),
    domains: controlPlaneDomains(cluster.status?.failureDomains),
  });
}

export async function deleteMachine({ context }: Pick<ControlPlaneScope, 'context'>, machine: Machine): Promise<void> {
  const { uid } = machine.metadata;
  await context.client
    .delete(Machines, objectKey(machine), {
      signal: context.signal,
      ...(uid !== undefined && { preconditions: { uid } }),
    })
    .catch(ignoreNotFound);
}

/**
 * Runs the preflight checks. `instead` is a change with weaker requirements that is checked while a remediation is
 * running.
 */
function mayChange(scope: ControlPlaneScope, change: PlannedChange, instead?: PlannedChange): boolean {
  const input = preflightInput(scope);
  let problems = preflightProblems(input, change);
  if (problems.details.length > 0 && instead) problems = preflightProblems(input, instead);
  if (problems.details.length === 0) {
    delete scope.memory.told;
    return true;
  }
  waitBecause(scope, problems.summary, problems.details);
  // Machine and Node changes trigger a reconcile; the requeue covers changes by topologies and users
  requeueAfter(scope, preflightRetryMs, 'preflight checks');
  return false;
}

export function preflightInput(scope: ControlPlaneScope): PreflightInput {
  const { cluster, controlPlane, health, inspection } = scope;
  return {
    cluster,
    controlPlane,
    machines: scope.machines,
    health,
    members: membersOf(scope),
    etcdManaged: isEtcdManaged(scope),
    certificatesAvailable: scope.certificatesAvailable,
    unknownMembers: isInitialized(controlPlane) ? unknownMembersOf(inspection?.etcd, health).map(labelOf) : [],
  };
}
