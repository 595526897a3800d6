import {
  bootstrapGroup,
  KubeadmConfigs,
  type KubeadmControlPlane,
  KubeadmControlPlanes,
  type Machine,
} from '../../../../api/index.ts';
import { deepEqual, formatApiVersion, type JsonObject, must, type Random } from '../../../../machinery/index.ts';
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
import { desiredConfigSpec } from './kubeadm-config.ts';
import { desiredMachine, machineOwner } from './machine-owner.ts';

export interface NewMachine {
  role: 'init' | 'join';
  failureDomain: string | undefined;
}

/** Makes one machine. The name is chosen once: a creation that was cut short is finished under the name it began with. */
export async function createControlPlaneMachine(
  scope: ControlPlaneScope,
  { role, failureDomain }: NewMachine,
): Promise<Machine | undefined> {
  const { context, controlPlane } = scope;
  const owner = machineOwner(scope);
  const live = await listMachines(owner);
  if (live.some((machine) => !scope.machines.some(({ metadata }) => metadata.uid === machine.metadata.uid))) {
    return undefined;
  }
  try {
    const parts = machineParts(owner, controlPlane, role);
    const [unfinished] = await unfinishedNames(owner, parts, live);
    const name = unfinished ?? newMachineName(controlPlane, owner.clusterName, context.random);
    const remediationFor = controlPlane.metadata.annotations?.[remediationInProgressAnnotation];
    const created = await createMachine(owner, name, parts, ({ bootstrap, infrastructure }) =>
      desiredMachine(owner, controlPlane, {
        name,
        fixed: {
          bootstrap: { configRef: must(bootstrap, 'bootstrap') },
          infrastructureRef: must(infrastructure, 'infrastructure'),
          version: controlPlane.spec.version,
          ...(failureDomain !== undefined && { failureDomain }),
        },
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

const defaultNaming = '{{ .kubeadmControlPlane.name }}-{{ .random }}';

function newMachineName({ metadata, spec }: KubeadmControlPlane, clusterName: string, random: Random): string {
  const values = { 'kubeadmControlPlane.name': metadata.name ?? '', 'cluster.name': clusterName };
  return machineName(spec.machineNaming?.template ?? defaultNaming, values, random);
}

function machineParts(owner: MachineOwner, controlPlane: KubeadmControlPlane, role: 'init' | 'join'): MachinePart[] {
  const spec = desiredConfigSpec(controlPlane, role);
  const config: MachinePart = {
    step: 'bootstrap',
    kind: { apiGroup: bootstrapGroup, kind: KubeadmConfigs.kind },
    matches: (object) => deepEqual(object.spec, spec),
    build: (name) => ({
      apiVersion: formatApiVersion(KubeadmConfigs.group, KubeadmConfigs.version),
      kind: KubeadmConfigs.kind,
      metadata: {
        name,
        namespace: controlPlane.metadata.namespace ?? '',
        // labels and annotations of the machine template follow under a manager of their own, so that they can leave again
        labels: { ...owner.labels },
        ownerReferences: [ownerReference(controlPlane, KubeadmControlPlanes, { controller: true })],
      },
      spec: { ...spec } as JsonObject,
    }),
  };
  return [config, templatePart(owner, 'infrastructure', controlPlane.spec.machineTemplate.spec.infrastructureRef)];
}

/** Deletes parts that will not become machines; only once nobody can still be about to use them. */
export async function deleteLeftovers(scope: ControlPlaneScope): Promise<undefined> {
  const owner = machineOwner(scope);
  // whatever role an interrupted creation was for
  await deleteLeftoverParts(owner, machineParts(owner, scope.controlPlane, 'join'), scope.machines);
}
