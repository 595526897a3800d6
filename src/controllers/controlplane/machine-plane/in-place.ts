import type { Machine } from '../../../api/index.ts';
import {
  applyMergePatch,
  asTyped,
  asUnstructured,
  clone,
  createMergePatch,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { done, type Result } from '../../../runtime/index.ts';
import {
  askInPlace,
  beginInPlaceUpdate,
  cloneChange,
  inPlaceHandler,
  isBeginningInPlace,
  isUpdatingInPlace,
  type PartChange,
  refusalOf,
  slimObject,
} from '../../shared/index.ts';
import { isNewMachineRequired } from './decisions/rollout.ts';
import { type ControlPlaneScope, living, nameOf, waitBecause } from './scope.ts';

/**
 * Completes the start of interrupted in-place updates: applies all desired changes to machines chosen for an update.
 */
export async function completeInPlaceUpdates(scope: ControlPlaneScope): Promise<undefined> {
  for (const machine of living(scope)) if (isBeginningInPlace(machine)) await begin(scope, machine);
}

/** Waits for running in-place updates: no machine is added or removed meanwhile. */
export function waitForInPlaceUpdates(scope: ControlPlaneScope): Result | undefined {
  const updating = living(scope).filter(isUpdatingInPlace);
  if (updating.length === 0) return undefined;
  waitBecause(scope, [`waiting for the in-place update of Machine ${updating.map(nameOf).join(', ')}`], []);
  return done();
}

/**
 * Starts an in-place update if an extension can apply the changes; undefined means that the machine must be replaced.
 */
export async function tryInPlaceUpdate(scope: ControlPlaneScope, machine: Machine): Promise<Result | undefined> {
  const { context, controlPlane, dependencies, outdated } = scope;
  const { hooks } = dependencies;
  const reasons = outdated.get(nameOf(machine)) ?? [];
  const upToDate = living(scope).filter((other) => !outdated.has(nameOf(other))).length;
  if (!hooks || reasons.length === 0 || isNewMachineRequired(reasons)) return undefined;
  if (upToDate >= (controlPlane.spec.replicas ?? 1)) return undefined;
  const hook = 'CanUpdateMachine';
  const handler = inPlaceHandler(hooks, hook, machine);
  if (handler === undefined) return undefined;
  const parts = await partsOf(scope, machine);
  if (!parts) return undefined;
  for (const change of [parts.infrastructure, parts.config]) {
    const refusal = await refusalOf(scope, change);
    if (refusal !== undefined) return reportReplaced(scope, machine, refusal);
  }
  const uncovered = await askInPlace(hooks, handler, {
    hook,
    subject: machine,
    request: requestOf(scope, machine, parts),
    signal: context.signal,
  });
  if (uncovered.length > 0) {
    return reportReplaced(scope, machine, `${handler} cannot change all that differs in ${uncovered.join(', ')}`);
  }
  await begin(scope, machine);
  const text = `Machine "${nameOf(machine)}" is updated in place`;
  context.events.event(controlPlane, 'Normal', 'InPlaceUpdate', text);
  return done();
}

function reportReplaced({ context, controlPlane }: ControlPlaneScope, machine: Machine, why: string): undefined {
  const text = `Machine "${nameOf(machine)}" is replaced, not updated in place: ${why}`;
  context.events.event(controlPlane, 'Normal', 'InPlaceUpdate', text);
}

interface Parts {
  readonly infrastructure: PartChange;
  readonly config: PartChange;
}

/** Computes the changes to the machine and its parts; undefined if a part is missing. */
async function partsOf(scope: ControlPlaneScope, machine: Machine): Promise<Parts | undefined> {
  const { provider, controlPlane, configs, infrastructure } = scope;
  const [config, infra] = [configs.get(nameOf(machine)), infrastructure.get(nameOf(machine))];
  if (!config || !infra) return undefined;
  const spec = createMergePatch(specOf(asUnstructured(config)), provider.configSpec(controlPlane, 'join'));
  return {
    infrastructure: await cloneChange(scope, infra, controlPlane.spec.machineTemplate.spec.infrastructureRef),
    config: { live: asUnstructured(config), spec, annotations: {} },
  };
}

const specOf = ({ spec }: UnstructuredObject): JsonObject => (isJsonObject(spec) ? spec : {});

function requestOf({ provider, controlPlane }: ControlPlaneScope, machine: Machine, { infrastructure, config }: Parts) {
  const desired = clone(machine);
  desired.spec.version = controlPlane.spec.version;
  const slim = (object: Machine): Machine => asTyped<Machine>(slimObject(asUnstructured(object)));
  const withSpec = (object: UnstructuredObject, spec: JsonValue): UnstructuredObject => slimObject({ ...object, spec });
  const configs = provider.configsToCompare(controlPlane, config.live);
  const infra = infrastructure.live;
  return {
    current: {
      machine: slim(machine),
      infrastructureMachine: slimObject(infra),
      bootstrapConfig: withSpec(config.live, configs.current),
    },
    desired: {
      machine: slim(desired),
      infrastructureMachine: withSpec(infra, applyMergePatch(specOf(infra), infrastructure.spec ?? {})),
      bootstrapConfig: withSpec(config.live, configs.desired),
    },
  };
}

async function begin(scope: ControlPlaneScope, machine: Machine): Promise<void> {
  const { controlPlane } = scope;
  const parts = await partsOf(scope, machine);
  if (!parts) return;
  const { failureDomain } = machine.spec;
  const begun = await beginInPlaceUpdate(scope, machine, [parts.infrastructure, parts.config], {
    version: controlPlane.spec.version,
    ...(failureDomain !== undefined && { failureDomain }),
  });
  scope.machines = scope.machines.map((other) => (other === machine ? begun : other));
}
