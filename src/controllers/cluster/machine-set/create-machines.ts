import { must } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  createMachine,
  creationProblem,
  deleteLeftoverParts,
  disableMachineCreateAnnotation,
  explain,
  isDeleting,
  listMachines,
  unfinishedNames,
} from '../../shared/index.ts';
import { desiredMachine, machineOwner, machineParts, newMachineName } from './machine-owner.ts';
import { preflightProblems } from './preflight.ts';
import type { MachineSetScope } from './scope.ts';

const blockedRetryMs = 15_000;

/** Made in one pass over a set, so that a change of mind is heard and other sets have their turn. */
const mostPerPass = 20;
/** Of one set, without a server: a cloud that gives no more servers is not flooded with objects that wait for one. */
export const mostPending = 100;

/** Makes the machines a set lacks. */
export async function createMissing(scope: MachineSetScope, count: number): Promise<Result | undefined> {
  const { set, cluster, context } = scope;
  if (set.metadata.annotations?.[disableMachineCreateAnnotation] === 'true' || !cluster) return undefined;
  if (scope.missingTemplates.length > 0) return after(blockedRetryMs, 'templates are missing');
  scope.blocked = await preflight(scope);
  if (scope.blocked.length > 0) return after(blockedRetryMs, 'preflight checks');

  // a cache that has not seen the last machine yet must not lead to one too many
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
  const unfinished = await unfinishedNames(owner, parts, known);
  const { dataSecretName } = set.spec.template.spec.bootstrap;
  try {
    for (let i = 0; i < batch; i++) {
      const name = unfinished.shift() ?? newMachineName(set, context.random);
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
    if (context.signal.aborted) throw error;
    scope.creationProblem = creationProblem(error, 'MachineCreationFailed');
    context.events.event(set, 'Warning', 'FailedCreate', `Failed to create Machine: ${explain(error)}`);
    throw error;
  }
  // the set is read again: its user may not want the rest any more
  return batch < lacking ? after(0, 'more Machines are to be made') : undefined;
}

/** Checks both for new machines and for the replacement of ill ones. */
export async function preflight({ cluster, set, context, follower }: MachineSetScope): Promise<string[]> {
  if (!cluster) return [];
  const reference = cluster.spec.controlPlaneRef;
  const { client, signal } = context;
  const controlPlane =
    reference && (await follower.get(reference, cluster.metadata.namespace ?? '', { client, signal }));
  return preflightProblems(cluster, set, controlPlane);
}

/** Deletes parts that will not become machines; only once nobody can still be about to use them. */
export async function deleteLeftovers(scope: MachineSetScope): Promise<undefined> {
  const { set } = scope;
  if (isDeleting(set) || (set.spec.replicas ?? 0) > scope.machines.length) return;
  const owner = machineOwner(scope);
  await deleteLeftoverParts(owner, machineParts(owner, set), scope.machines);
}
