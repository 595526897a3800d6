import {
  clusterNameLabel,
  deploymentNameLabel,
  labelValueOf,
  type Machine,
  type MachineSet,
  type MachineSpec,
  machineSets,
  machines,
  setNameLabel,
} from '../../../api/index.ts';
import { formatApiVersion, type JsonObject } from '../../../machinery/index.ts';
import { machineFinalizer, ownerReference } from '../../shared/index.ts';

/** Labels that tell where a machine and its clones belong; they never change. */
export function belongingLabels(set: MachineSet): Record<string, string> {
  const deployment = set.metadata.labels?.[deploymentNameLabel];
  return {
    ...set.spec.selector.matchLabels,
    [clusterNameLabel]: set.spec.clusterName,
    [setNameLabel]: labelValueOf(set.metadata.name ?? ''),
    ...(deployment !== undefined && { [deploymentNameLabel]: deployment }),
  };
}

export function machineLabels(set: MachineSet): Record<string, string> {
  return { ...set.spec.template.metadata?.labels, ...belongingLabels(set) };
}

export function machineAnnotations(set: MachineSet): Record<string, string> {
  return { ...set.spec.template.metadata?.annotations };
}

/** Parts of the spec that reach living machines. */
const inPlaceFields = ['readinessGates', 'deletion', 'minReadySeconds', 'taints'] as const;

export function inPlaceSpec(set: MachineSet): Partial<MachineSpec> {
  const template = set.spec.template.spec;
  return Object.fromEntries(
    inPlaceFields.flatMap((field) => (template[field] === undefined ? [] : [[field, template[field]]])),
  );
}

type References = Pick<MachineSpec, 'bootstrap' | 'infrastructureRef'>;

/** A new machine, and later the machine as the set wants it: what is fixed at birth is taken from the living one. */
export function desiredMachine(set: MachineSet, name: string, born: References, existing?: Machine): Machine {
  const template = set.spec.template.spec;
  const from = existing?.spec ?? template;
  const { configRef, dataSecretName } = born.bootstrap;
  const { namespace } = set.metadata;
  return {
    apiVersion: formatApiVersion(machines.group, machines.version),
    kind: machines.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(existing?.metadata.uid !== undefined && { uid: existing.metadata.uid }),
      labels: machineLabels(set),
      annotations: machineAnnotations(set),
      ownerReferences: [ownerReference(set, machineSets, { controller: true })],
      finalizers: [machineFinalizer],
    },
    spec: {
      clusterName: set.spec.clusterName,
      // the data secret of a config is the machine controller's to write
      bootstrap: configRef ? { configRef } : dataSecretName === undefined ? {} : { dataSecretName },
      infrastructureRef: born.infrastructureRef,
      ...(from.version !== undefined && { version: from.version }),
      ...(from.failureDomain !== undefined && { failureDomain: from.failureDomain }),
      ...inPlaceSpec(set),
    },
  };
}

/** For a machine on its way out only what steers its deletion still matters. */
export function deletionPatch(set: MachineSet, machine: Machine): JsonObject | undefined {
  const wished = set.spec.template.spec.deletion ?? {};
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
