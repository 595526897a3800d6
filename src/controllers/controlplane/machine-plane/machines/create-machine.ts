import type { Machine } from '../../../../api/index.ts';
import { deepEqual, formatApiVersion, must } from '../../../../machinery/index.ts';
import {
  createMachine,
  creationProblem,
  deleteLeftoverParts,
  explain,
  listMachines,
  type MachineOwner,
  type MachinePart,
  machineName,
  ownerReference,
  templatePart,
  unfinishedNames,
} from '../../../shared/index.ts';
import { remediationInProgressAnnotation } from '../names.ts';
import type { ControlPlaneScope } from '../scope.ts';
import { desiredMachine, machineOwner, type OwnerScope } from './machine-owner.ts';

/** Parts of the scope that a creation needs. */
export type CreationScope = OwnerScope & Pick<ControlPlaneScope, 'machines' | 'creationProblem'>;

export interface NewMachine {
  role: 'init' | 'join';
  failureDomain: string | undefined;
}

/** Creates one machine. The name is chosen once, so an interrupted creation is completed under the same name. */
export async function createControlPlaneMachine(
  scope: CreationScope,
  { role, failureDomain }: NewMachine,
): Promise<Machine | undefined> {
  const { context, provider, controlPlane } = scope;
  const owner = machineOwner(scope);
  const live = await listMachines(owner);
  if (live.some((machine) => !scope.machines.some(({ metadata }) => metadata.uid === machine.metadata.uid))) {
    return undefined;
  }
  try {
    const parts = machineParts(scope, owner, role);
    const [unfinished] = await unfinishedNames(owner, parts, live);
    const name = unfinished ?? newMachineName(scope, owner.clusterName);
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
    if (context.signal.aborted) throw error;
    scope.creationProblem = creationProblem(error, 'MachineGenerationFailed');
    const reason = role === 'init' ? 'FailedInitialization' : 'FailedScaleUp';
    context.events.event(controlPlane, 'Warning', reason, `Failed to create control plane Machine: ${explain(error)}`);
    throw error;
  }
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
    matches: (object) => deepEqual(object.spec, spec),
    build: (name) => ({
      apiVersion: formatApiVersion(configs.group, configs.version),
      kind: configs.kind,
      metadata: {
        name,
        namespace: controlPlane.metadata.namespace ?? '',
        // template labels and annotations are applied by a separate field manager, so that they can be removed later
        labels: { ...owner.labels },
        ownerReferences: [ownerReference(controlPlane, provider.resource, { controller: true })],
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
