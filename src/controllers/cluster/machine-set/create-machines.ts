import { must } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  completeMachines,
  createMachine,
  creationProblem,
  deleteLeftoverParts,
  disableMachineCreateAnnotation,
  explain,
  isDeleting,
  listMachines,
} from '../../shared/index.ts';
import { desiredMachine, machineOwner, machineParts, newMachineName } from './machine-owner.ts';
import { preflightProblems } from './preflight.ts';
import type { MachineSetScope } from './scope.ts';

const blockedRetryMs = 15_000;

/** Limit of machines created per reconcile, so that spec changes take effect and other sets get their turn. */
const mostPerPass = 20;
/**
 * Limit of machines per set without a server, so that an exhausted cloud does not lead to a flood of waiting objects.
 */
export const mostPending = 100;

export async function createMissing(scope: MachineSetScope, count: number): Promise<Result | undefined> {
  const { set, cluster, context } = scope;
  if (set.metadata.annotations?.[disableMachineCreateAnnotation] === 'true' || !cluster) return undefined;
  if (scope.missingTemplates.length > 0) return after(blockedRetryMs, 'templates are missing');
  scope.blocked = await preflight(scope);
  if (scope.blocked.length > 0) return after(blockedRetryMs, 'preflight checks');

  // the cache may not contain the last created machine yet; listing prevents a surplus one
  const owner = machineOwner(scope);
  const known = await listMachines(owner);
  const lacking = Math.min(count, (set.spec.replicas ?? 0) - known.length);
  if (lacking <= 0) return undefined;
  const pending = known.filter((machine) => !isDeleting(machine) && machine.spec.providerID === undefined).length;
  const room = mostPending - pending;
  if (room <= 0) {
    scope.blocked = [`${pending} Machines have no server yet; more are made as these get theirs`];
    return after(blockedRetryMs, 'too many Machines without a server');
  }
  const batch = Math.min(lacking, room, mostPerPass);
  const parts = machineParts(owner, set);
  const { dataSecretName } = set.spec.template.spec.bootstrap;
  try {
    for (let i = 0; i < batch; i++) {
      const name = newMachineName(set, context.random);
      const machine = await createMachine(owner, name, parts, ({ bootstrap, infrastructure }) =>
        desiredMachine(owner, set, name, {
          bootstrap: {
            ...(bootstrap && { configRef: bootstrap }),
            ...(dataSecretName !== undefined && { dataSecretName }),
          },
          infrastructureRef: must(infrastructure, 'infrastructure'),
        }),
      );
      scope.machines.push(machine);
    }
  } catch (error) {
    throw failed(scope, error);
  }
  // read the set again before the next batch: its replicas may have changed
  return batch < lacking ? after(0, 'more Machines are to be made') : undefined;
}

/** Creates what machines lack whose creation was interrupted. */
export async function completeMissing(scope: MachineSetScope): Promise<void> {
  const owner = machineOwner(scope);
  try {
    await completeMachines(owner, machineParts(owner, scope.set), scope.machines);
  } catch (error) {
    throw failed(scope, error);
  }
}

/** Reports a failed creation, and returns its error. */
function failed(scope: MachineSetScope, error: unknown): unknown {
  const { context, set } = scope;
  if (context.signal.aborted) return error;
  scope.creationProblem = creationProblem(error, 'MachineCreationFailed');
  context.events.event(set, 'Warning', 'FailedCreate', `Failed to create Machine: ${explain(error)}`);
  return error;
}

/** Runs the preflight checks for new machines and for replacements. */
export async function preflight({ cluster, set, context, follower }: MachineSetScope): Promise<string[]> {
  if (!cluster) return [];
  const reference = cluster.spec.controlPlaneRef;
  const { client, signal } = context;
  const controlPlane =
    reference && (await follower.get(reference, cluster.metadata.namespace ?? '', { client, signal }));
  return preflightProblems(cluster, set, controlPlane);
}

/** Deletes cloned objects that no machine uses, once none can still be about to use them. */
export async function deleteLeftovers(scope: MachineSetScope): Promise<undefined> {
  const { set } = scope;
  if (isDeleting(set) || (set.spec.replicas ?? 0) > scope.machines.length) return;
  const owner = machineOwner(scope);
  await deleteLeftoverParts(owner, machineParts(owner, set), scope.machines);
}
