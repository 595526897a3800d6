import {
  type ConditionGate,
  clusterNameLabel,
  type KubeadmControlPlane,
  kubeadmControlPlanes,
  labelValueOf,
  type Machine,
  type MachineSpec,
  machines,
} from '../../../../api/index.ts';
import { formatApiVersion, type JsonObject } from '../../../../machinery/index.ts';
import { controlPlaneLabel, controlPlaneNameLabel, machineFinalizer, ownerReference } from '../../../shared/index.ts';
import { conditionsOf } from '../health/machine-health.ts';
import { cleanupHook, remediationForAnnotation } from '../names.ts';
import { isEtcdManaged } from '../scope.ts';

/** Labels that tell where a machine and its clones belong; they never change. */
export function belongingLabels(controlPlane: KubeadmControlPlane, clusterName: string): Record<string, string> {
  return {
    [clusterNameLabel]: clusterName,
    [controlPlaneLabel]: '',
    [controlPlaneNameLabel]: labelValueOf(controlPlane.metadata.name ?? ''),
  };
}

export function machineLabels(controlPlane: KubeadmControlPlane, clusterName: string): Record<string, string> {
  return { ...controlPlane.spec.machineTemplate.metadata?.labels, ...belongingLabels(controlPlane, clusterName) };
}

export function machineAnnotations({ spec }: KubeadmControlPlane): Record<string, string> {
  return { ...spec.machineTemplate.metadata?.annotations };
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

type BirthFacts = Pick<MachineSpec, 'bootstrap' | 'infrastructureRef' | 'version' | 'failureDomain'>;

export interface DesiredMachineOptions {
  controlPlane: KubeadmControlPlane;
  clusterName: string;
  name: string;
  born: BirthFacts;
  existing?: Machine;
  /** what a new machine replaces */
  remediationFor?: string;
}

/** A new machine, and later the machine as its control plane wants it: what is fixed at birth stays. */
export function desiredMachine(options: DesiredMachineOptions): Machine {
  const { controlPlane, clusterName, name, born, existing } = options;
  const { deletion, taints } = controlPlane.spec.machineTemplate.spec;
  const { namespace } = controlPlane.metadata;
  const remediationFor = existing?.metadata.annotations?.[remediationForAnnotation] ?? options.remediationFor;
  const { configRef } = born.bootstrap;
  return {
    apiVersion: formatApiVersion(machines.group, machines.version),
    kind: machines.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(existing?.metadata.uid !== undefined && { uid: existing.metadata.uid }),
      labels: machineLabels(controlPlane, clusterName),
      annotations: {
        ...machineAnnotations(controlPlane),
        [cleanupHook]: '',
        ...(remediationFor !== undefined && { [remediationForAnnotation]: remediationFor }),
      },
      ownerReferences: [ownerReference(controlPlane, kubeadmControlPlanes, { controller: true })],
      finalizers: [machineFinalizer],
    },
    spec: {
      clusterName,
      // the data secret of a config is the machine controller's to write
      bootstrap: configRef ? { configRef } : {},
      infrastructureRef: born.infrastructureRef,
      ...(born.version !== undefined && { version: born.version }),
      ...(born.failureDomain !== undefined && { failureDomain: born.failureDomain }),
      ...(deletion && { deletion }),
      ...(taints && { taints }),
      readinessGates: readinessGates(controlPlane),
    },
  };
}

/** For a machine on its way out only what steers its deletion still matters. */
export function deletionPatch({ spec }: KubeadmControlPlane, machine: Machine): JsonObject | undefined {
  const wished = spec.machineTemplate.spec.deletion ?? {};
  const current = machine.spec.deletion ?? {};
  const patch: JsonObject = {};
  for (const field of [
    'nodeDrainTimeoutSeconds',
    'nodeVolumeDetachTimeoutSeconds',
    'nodeDeletionTimeoutSeconds',
  ] as const) {
    if (wished[field] !== undefined && wished[field] !== current[field]) patch[field] = wished[field];
  }
  return Object.keys(patch).length > 0 ? { spec: { deletion: patch } } : undefined;
}
