import {
  type ConditionGate,
  clusterNameLabel,
  type KubeadmControlPlane,
  KubeadmControlPlanes,
  labelValueOf,
  type Machine,
  type MachineSpec,
} from '../../../../api/index.ts';
import type { UnstructuredObject } from '../../../../machinery/index.ts';
import {
  controlPlaneLabel,
  controlPlaneNameLabel,
  type MachineOwner,
  machineOf,
  syncMachines,
} from '../../../shared/index.ts';
import { conditionsOf } from '../health/machine-health.ts';
import { cleanupHook, controlPlaneManager, remediationForAnnotation } from '../names.ts';
import { type ControlPlaneScope, isEtcdManaged, nameOf } from '../scope.ts';

/** Labels that tell where a machine and its parts belong; they never change. */
function belongingLabels(controlPlane: KubeadmControlPlane, clusterName: string): Record<string, string> {
  return {
    [clusterNameLabel]: clusterName,
    [controlPlaneLabel]: '',
    [controlPlaneNameLabel]: labelValueOf(controlPlane.metadata.name ?? ''),
  };
}

export function machineOwner({ context, follower, applies, controlPlane, cluster }: ControlPlaneScope): MachineOwner {
  const { metadata, spec } = controlPlane.spec.machineTemplate;
  const clusterName = cluster.metadata.name ?? '';
  return {
    context,
    follower,
    applies,
    object: controlPlane,
    resource: KubeadmControlPlanes,
    clusterName,
    partManager: controlPlaneManager,
    labels: belongingLabels(controlPlane, clusterName),
    ownerLabel: controlPlaneNameLabel,
    template: { labels: metadata?.labels, annotations: metadata?.annotations, deletion: spec.deletion },
  };
}

/** A machine is ready when its part of the control plane is; users may ask for more. */
export function readinessGates(controlPlane: KubeadmControlPlane): ConditionGate[] {
  const gates: ConditionGate[] = conditionsOf(isEtcdManaged(controlPlane)).all.map((conditionType) => ({
    conditionType,
  }));
  for (const gate of controlPlane.spec.machineTemplate.spec.readinessGates ?? []) {
    if (!gates.some(({ conditionType }) => conditionType === gate.conditionType)) gates.push(gate);
  }
  return gates;
}

/** What a machine keeps from its creation. */
type FixedSpec = Pick<MachineSpec, 'bootstrap' | 'infrastructureRef' | 'version' | 'failureDomain'>;

export interface DesiredMachineOptions {
  name: string;
  fixed: FixedSpec;
  existing?: Machine;
  /** what a new machine replaces */
  remediationFor?: string | undefined;
}

/** A new machine, and later the machine as its control plane wants it: what is fixed at creation stays. */
export function desiredMachine(
  owner: MachineOwner,
  controlPlane: KubeadmControlPlane,
  options: DesiredMachineOptions,
): Machine {
  const { name, fixed, existing } = options;
  const { deletion, taints } = controlPlane.spec.machineTemplate.spec;
  const remediationFor = existing?.metadata.annotations?.[remediationForAnnotation] ?? options.remediationFor;
  const { configRef } = fixed.bootstrap;
  return machineOf(owner, {
    name,
    existing,
    annotations: {
      [cleanupHook]: '',
      ...(remediationFor !== undefined && { [remediationForAnnotation]: remediationFor }),
    },
    spec: {
      bootstrap: configRef ? { configRef } : {},
      infrastructureRef: fixed.infrastructureRef,
      ...(fixed.version !== undefined && { version: fixed.version }),
      ...(fixed.failureDomain !== undefined && { failureDomain: fixed.failureDomain }),
      ...(deletion && { deletion }),
      ...(taints && { taints }),
      readinessGates: readinessGates(controlPlane),
    },
  });
}

export async function syncMachinesOfControlPlane(scope: ControlPlaneScope): Promise<undefined> {
  const { controlPlane, configs, infrastructure } = scope;
  const owner = machineOwner(scope);
  scope.machines = await syncMachines(owner, scope.machines, {
    desired: (machine) =>
      desiredMachine(owner, controlPlane, { name: nameOf(machine), fixed: machine.spec, existing: machine }),
    parts: (machine) =>
      [configs.get(nameOf(machine)) as UnstructuredObject | undefined, infrastructure.get(nameOf(machine))].filter(
        (part) => part !== undefined,
      ),
  });
}
