import { type ContractReference, type Machine, type MachineSet, Machines } from '../../../api/index.ts';
import { asTyped, asUnstructured, type UnstructuredObject } from '../../../machinery/index.ts';
import {
  acknowledgedMoveAnnotation,
  askInPlace,
  inPlaceHandler,
  isDeleting,
  moveMachinesToAnnotation,
  pendingAcknowledgeMoveAnnotation,
  refusalOf,
  slimObject,
} from '../../shared/index.ts';
import { byController } from '../common/indexes.ts';
import { isRolloutExpired } from '../common/template.ts';
import { mayMove, partChanges } from '../machine-set/move-machines.ts';
import type { MachineDeploymentScope } from './scope.ts';

/** Interval before an extension that refused an update is asked again. */
const refusalMs = 10 * 60_000;

/** Sets that extensions refused to update, with the time the refusal expires. A lost entry only costs one more call. */
export type Refusals = Map<string, number>;

/** Returns the names of old sets whose machines extensions can update to the current template. Throws HookError. */
export async function findMovable(
  scope: MachineDeploymentScope,
  current: MachineSet,
  old: readonly MachineSet[],
): Promise<ReadonlySet<string>> {
  const { context, deployment, dependencies } = scope;
  const movable = new Set<string>();
  const strategy = deployment.spec.rollout?.strategy?.type ?? 'RollingUpdate';
  const candidates = old.filter(({ spec }) => (spec.replicas ?? 0) > 0);
  if (strategy !== 'RollingUpdate' || candidates.length === 0) return movable;
  const hook = 'CanUpdateMachineSet';
  const handler = inPlaceHandler(dependencies.hooks, hook, deployment);
  if (handler === undefined || !dependencies.hooks) return movable;
  const now = context.clock.now();
  for (const set of candidates) {
    const name = set.metadata.name ?? '';
    // spec.rollout.after asks for new machines
    if (isRolloutExpired(deployment, set, now)) continue;
    if (set.metadata.annotations?.[moveMachinesToAnnotation] === current.metadata.name) {
      movable.add(name);
      continue;
    }
    const key = `${set.metadata.uid} ${current.metadata.name}`;
    if ((scope.refusals.get(key) ?? 0) > now) continue;
    const why = await whyNot(scope, { hook, handler, set, current });
    if (why === undefined) movable.add(name);
    else {
      for (const [other, until] of scope.refusals) if (until <= now) scope.refusals.delete(other);
      scope.refusals.set(key, now + refusalMs);
      const text = `Machines of MachineSet "${name}" are replaced, not updated in place: ${why}`;
      context.events.event(deployment, 'Normal', 'InPlaceUpdate', text);
    }
  }
  return movable;
}

interface Question {
  readonly hook: 'CanUpdateMachineSet';
  readonly handler: string;
  readonly set: MachineSet;
  readonly current: MachineSet;
}

/** Explains why machines of a set cannot be updated to another set's template; undefined if they can. */
async function whyNot(
  scope: MachineDeploymentScope,
  { hook, handler, set, current }: Question,
): Promise<string | undefined> {
  const { context, dependencies, deployment } = scope;
  const [before, after] = [await templatesOf(scope, set), await templatesOf(scope, current)];
  if (!before || !after) return 'a template does not exist';
  if ((before.bootstrapConfigTemplate === undefined) !== (after.bootstrapConfigTemplate === undefined)) {
    return 'one of them has no bootstrap template';
  }
  const sample = machinesOf(scope, set).find(mayMove);
  if (!sample) return 'it has no healthy machine';
  for (const change of await partChanges({ ...scope, set: current }, sample)) {
    const refusal = await refusalOf(scope, change);
    if (refusal !== undefined) return refusal;
  }
  const slim = (object: MachineSet): MachineSet => asTyped<MachineSet>(slimObject(asUnstructured(object)));
  if (!dependencies.hooks) return 'there is no extension to ask';
  const uncovered = await askInPlace(dependencies.hooks, handler, {
    hook,
    subject: deployment,
    request: {
      current: { machineSet: slim(set), ...before },
      desired: { machineSet: slim(current), ...after },
    },
    signal: context.signal,
  });
  return uncovered.length === 0 ? undefined : `${handler} cannot change all that differs in ${uncovered.join(', ')}`;
}

interface Templates {
  infrastructureMachineTemplate: UnstructuredObject;
  bootstrapConfigTemplate?: UnstructuredObject;
}

async function templatesOf(
  { context, follower }: MachineDeploymentScope,
  { metadata, spec }: MachineSet,
): Promise<Templates | undefined> {
  const { client, signal } = context;
  const read = async (reference: ContractReference): Promise<UnstructuredObject | undefined> => {
    const found = await follower.get(reference, metadata.namespace ?? '', { client, signal });
    return found && slimObject(found.object);
  };
  const { infrastructureRef, bootstrap } = spec.template.spec;
  const infrastructureMachineTemplate = await read(infrastructureRef);
  const bootstrapConfigTemplate = bootstrap.configRef && (await read(bootstrap.configRef));
  if (!infrastructureMachineTemplate || (bootstrap.configRef && !bootstrapConfigTemplate)) return undefined;
  return { infrastructureMachineTemplate, ...(bootstrapConfigTemplate && { bootstrapConfigTemplate }) };
}

/** Machines of a set from the machine cache, which may be newer than the set's own counters. */
export const machinesOf = ({ context }: MachineDeploymentScope, { metadata }: MachineSet): Machine[] =>
  metadata.uid === undefined ? [] : context.cache.lister(Machines).byIndex(byController, metadata.uid);

export interface Received {
  /** for the set's annotation: machines moved to the set whose acknowledgement is still pending */
  readonly names: readonly string[];
  /** how many of them the set's replicas do not include yet */
  readonly uncounted: number;
}

/** Finds machines that old sets moved to the current one. */
export function receivedBy(set: MachineSet, machines: readonly Machine[]): Received {
  const names = machines
    .filter((machine) => !isDeleting(machine))
    .filter(({ metadata }) => metadata.annotations?.[pendingAcknowledgeMoveAnnotation] !== undefined)
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
  const counted = (set.metadata.annotations?.[acknowledgedMoveAnnotation] ?? '').split(',');
  return { names, uncounted: names.filter((name) => !counted.includes(name)).length };
}
