import type { Machine } from '../../../../api/index.ts';
import { formatApiVersion, must } from '../../../../machinery/index.ts';
import {
  completeMachines,
  createMachine,
  creationProblem,
  deleteLeftoverParts,
  explain,
  listMachines,
  type MachineOwner,
  type MachinePart,
  machineName,
  templatePart,
} from '../../../shared/index.ts';
import { remediationInProgressAnnotation } from '../names.ts';
import { type ControlPlaneScope, isInitialized, requeueAfter } from '../scope.ts';
import { desiredMachine, machineOwner, type OwnerScope } from './machine-owner.ts';

const completionRetryMs = 15_000;

/** Parts of the scope that a creation needs. */
export type CreationScope = OwnerScope & Pick<ControlPlaneScope, 'machines' | 'creationProblem'>;

export interface NewMachine {
  role: 'init' | 'join';
  failureDomain: string | undefined;
}

/** Creates one machine. */
export async function createControlPlaneMachine(
  scope: CreationScope,
  { role, failureDomain }: NewMachine,
): Promise<Machine | undefined> {
  const { provider, controlPlane } = scope;
  const owner = machineOwner(scope);
  const live = await listMachines(owner);
  if (live.some((machine) => !scope.machines.some(({ metadata }) => metadata.uid === machine.metadata.uid))) {
    return undefined;
  }
  try {
    const parts = machineParts(scope, owner, role);
    const name = newMachineName(scope, owner.clusterName);
    const remediationFor = controlPlane.metadata.annotations?.[remediationInProgressAnnotation];
    const created = await createMachine(owner, name, parts, ({ bootstrap, infrastructure }) =>
      desiredMachine(scope, owner, {
        name,
        fixed: {
          bootstrap: { configRef: must(bootstrap, 'bootstrap') },
          infrastructureRef: must(infrastructure, 'infrastructure'),
          version: controlPlane.spec.version,
          ...(failureDomain !== undefined && { failureDomain }),
        },
        annotations: provider.machineAnnotations(controlPlane, role),
        remediationFor,
      }),
    );
    if (remediationFor !== undefined) {
      const { [remediationInProgressAnnotation]: _, ...annotations } = controlPlane.metadata.annotations ?? {};
      controlPlane.metadata.annotations = annotations;
    }
    scope.machines = [...scope.machines, created];
    return created;
  } catch (error) {
    throw failed(scope, role, error);
  }
}

/**
 * Creates what machines lack whose creation was interrupted. If that fails, the control plane is looked after all the
 * same, and the machine can be removed.
 */
export async function completeMachinesOfPlane(scope: ControlPlaneScope): Promise<undefined> {
  const owner = machineOwner(scope);
  // there is no second machine before the first has initialized the cluster
  const role = isInitialized(scope.controlPlane) ? 'join' : 'init';
  try {
    await completeMachines(owner, machineParts(scope, owner, role), scope.machines);
  } catch (error) {
    if (scope.context.signal.aborted) throw error;
    failed(scope, role, error);
    requeueAfter(scope, completionRetryMs, 'a machine cannot be completed');
  }
}

/** Reports a failed creation, and returns its error. */
function failed(scope: CreationScope, role: NewMachine['role'], error: unknown): unknown {
  const { context, controlPlane } = scope;
  if (context.signal.aborted) return error;
  scope.creationProblem = creationProblem(error, 'MachineGenerationFailed');
  const reason = role === 'init' ? 'FailedInitialization' : 'FailedScaleUp';
  context.events.event(controlPlane, 'Warning', reason, `Failed to create control plane Machine: ${explain(error)}`);
  return error;
}

function newMachineName({ context, provider, controlPlane }: OwnerScope, clusterName: string): string {
  const values = { [provider.namingVariable]: controlPlane.metadata.name ?? '', 'cluster.name': clusterName };
  return machineName(provider.settingsOf(controlPlane).naming, values, context.random);
}

function machineParts(
  { provider, controlPlane }: OwnerScope,
  owner: MachineOwner,
  role: 'init' | 'join',
): MachinePart[] {
  const { configs } = provider;
  const spec = provider.configSpec(controlPlane, role);
  const config: MachinePart = {
    step: 'bootstrap',
    kind: { apiGroup: configs.group, kind: configs.kind },
    build: (name) => ({
      apiVersion: formatApiVersion(configs.group, configs.version),
      kind: configs.kind,
      metadata: {
        name,
        namespace: controlPlane.metadata.namespace ?? '',
        // template labels and annotations are applied by a separate field manager, so that they can be removed later
        labels: { ...owner.labels },
      },
      spec: { ...spec },
    }),
  };
  return [config, templatePart(owner, 'infrastructure', controlPlane.spec.machineTemplate.spec.infrastructureRef)];
}

/** Deletes cloned objects that no machine uses, once none can still be about to use them. */
export async function deleteLeftovers(scope: ControlPlaneScope): Promise<undefined> {
  const owner = machineOwner(scope);
  // an interrupted creation may have been for init or join
  await deleteLeftoverParts(owner, machineParts(scope, owner, 'join'), scope.machines);
}
