import {
  type ConditionGate,
  clusterNameLabel,
  labelValueOf,
  type Machine,
  type MachineSpec,
} from '../../../../api/index.ts';
import { asUnstructured } from '../../../../machinery/index.ts';
import {
  controlPlaneLabel,
  controlPlaneNameLabel,
  type MachineOwner,
  machineOf,
  syncMachines,
} from '../../../shared/index.ts';
import { conditionsOf } from '../health/machine-health.ts';
import { remediationForAnnotation } from '../names.ts';
import type { MachinePlane } from '../provider.ts';
import { type ControlPlaneScope, nameOf } from '../scope.ts';

/** Labels for cluster and control plane; they never change. */
function belongingLabels(controlPlane: MachinePlane, clusterName: string): Record<string, string> {
  return {
    [clusterNameLabel]: clusterName,
    [controlPlaneLabel]: '',
    [controlPlaneNameLabel]: labelValueOf(controlPlane.metadata.name ?? ''),
  };
}

/** Parts of the scope that identify the owner of machines. */
export type OwnerScope = Pick<
  ControlPlaneScope,
  'context' | 'follower' | 'applies' | 'provider' | 'controlPlane' | 'cluster'
>;

export function machineOwner(scope: OwnerScope): MachineOwner {
  const { context, follower, applies, provider, controlPlane, cluster } = scope;
  const { metadata, spec } = controlPlane.spec.machineTemplate;
  const clusterName = cluster.metadata.name ?? '';
  return {
    context,
    follower,
    applies,
    object: controlPlane,
    resource: provider.resource,
    clusterName,
    partManager: provider.manager,
    labels: belongingLabels(controlPlane, clusterName),
    ownerLabel: controlPlaneNameLabel,
    template: { labels: metadata?.labels, annotations: metadata?.annotations, deletion: spec.deletion },
  };
}

/** Makes the control plane's conditions readiness gates of its machines, in addition to the user's gates. */
export function readinessGates(scope: Pick<ControlPlaneScope, 'provider' | 'controlPlane'>): ConditionGate[] {
  const gates: ConditionGate[] = conditionsOf(scope).all.map((conditionType) => ({ conditionType }));
  for (const gate of scope.controlPlane.spec.machineTemplate.spec.readinessGates ?? []) {
    if (!gates.some(({ conditionType }) => conditionType === gate.conditionType)) gates.push(gate);
  }
  return gates;
}

/** Fields that are fixed at creation. */
type FixedSpec = Pick<MachineSpec, 'bootstrap' | 'infrastructureRef' | 'version' | 'failureDomain'>;

export interface DesiredMachineOptions {
  name: string;
  fixed: FixedSpec;
  existing?: Machine;
  /** only for new machines; existing ones keep theirs */
  annotations?: Readonly<Record<string, string>>;
  /** the remediated machine that a new machine replaces */
  remediationFor?: string | undefined;
}

/** Builds a machine as its control plane wants it. Immutable fields come from the existing machine, if any. */
export function desiredMachine(
  { provider, controlPlane }: Pick<ControlPlaneScope, 'provider' | 'controlPlane'>,
  owner: MachineOwner,
  options: DesiredMachineOptions,
): Machine {
  const { name, fixed, existing } = options;
  const kept = Object.keys(provider.machineAnnotations(controlPlane, 'init')).flatMap((key) => {
    const value = existing?.metadata.annotations?.[key];
    return value === undefined ? [] : [[key, value] as const];
  });
  const { deletion, taints } = controlPlane.spec.machineTemplate.spec;
  const remediationFor = existing?.metadata.annotations?.[remediationForAnnotation] ?? options.remediationFor;
  const { configRef } = fixed.bootstrap;
  return machineOf(owner, {
    name,
    existing,
    annotations: {
      [provider.cleanupHook]: '',
      ...(existing ? Object.fromEntries(kept) : options.annotations),
      ...(remediationFor !== undefined && { [remediationForAnnotation]: remediationFor }),
    },
    spec: {
      bootstrap: configRef ? { configRef } : {},
      infrastructureRef: fixed.infrastructureRef,
      ...(fixed.version !== undefined && { version: fixed.version }),
      ...(fixed.failureDomain !== undefined && { failureDomain: fixed.failureDomain }),
      ...(deletion && { deletion }),
      ...(taints && { taints }),
      readinessGates: readinessGates({ provider, controlPlane }),
    },
  });
}

export async function syncMachinesOfControlPlane(scope: ControlPlaneScope): Promise<undefined> {
  const { configs, infrastructure } = scope;
  const owner = machineOwner(scope);
  scope.machines = await syncMachines(owner, scope.machines, {
    desired: (machine) =>
      desiredMachine(scope, owner, { name: nameOf(machine), fixed: machine.spec, existing: machine }),
    parts(machine) {
      const config = configs.get(nameOf(machine));
      return [config && asUnstructured(config), infrastructure.get(nameOf(machine))].filter(
        (part) => part !== undefined,
      );
    },
  });
}
