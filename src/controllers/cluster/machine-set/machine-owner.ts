import {
  clusterNameLabel,
  deploymentNameLabel,
  labelValueOf,
  type Machine,
  type MachineSet,
  MachineSets,
  type MachineSpec,
  setNameLabel,
} from '../../../api/index.ts';
import type { Random, UnstructuredObject } from '../../../machinery/index.ts';
import {
  type MachineOwner,
  type MachinePart,
  machineName,
  machineOf,
  syncMachines,
  templatePart,
} from '../../shared/index.ts';
import { type MachineSetScope, machineSetManager } from './scope.ts';

/** Labels for cluster, set and deployment; they never change. */
function belongingLabels(set: MachineSet): Record<string, string> {
  const deployment = set.metadata.labels?.[deploymentNameLabel];
  return {
    ...set.spec.selector.matchLabels,
    [clusterNameLabel]: set.spec.clusterName,
    [setNameLabel]: labelValueOf(set.metadata.name ?? ''),
    ...(deployment !== undefined && { [deploymentNameLabel]: deployment }),
  };
}

export function machineOwner({ context, follower, applies, set }: MachineSetScope): MachineOwner {
  const { metadata, spec } = set.spec.template;
  return {
    context,
    follower,
    applies,
    object: set,
    resource: MachineSets,
    clusterName: set.spec.clusterName,
    partManager: machineSetManager,
    labels: belongingLabels(set),
    ownerLabel: setNameLabel,
    template: { labels: metadata?.labels, annotations: metadata?.annotations, deletion: spec.deletion },
  };
}

export function machineParts(owner: MachineOwner, { spec }: MachineSet): MachinePart[] {
  const { bootstrap, infrastructureRef } = spec.template.spec;
  return [
    ...(bootstrap.configRef ? [templatePart(owner, 'bootstrap', bootstrap.configRef)] : []),
    templatePart(owner, 'infrastructure', infrastructureRef),
  ];
}

const defaultNaming = '{{ .machineSet.name }}-{{ .random }}';

export function newMachineName({ metadata, spec }: MachineSet, random: Random): string {
  const values = { 'machineSet.name': metadata.name ?? '', 'cluster.name': spec.clusterName };
  return machineName(spec.machineNaming?.template ?? defaultNaming, values, random);
}

/** Fields that are propagated to existing machines. */
const inPlaceFields = ['readinessGates', 'deletion', 'minReadySeconds', 'taints'] as const;

function inPlaceSpec(set: MachineSet): Partial<MachineSpec> {
  const template = set.spec.template.spec;
  return Object.fromEntries(
    inPlaceFields.flatMap((field) => (template[field] === undefined ? [] : [[field, template[field]]])),
  );
}

/** Builds a machine as the set wants it. Immutable fields come from the existing machine, if any. */
export function desiredMachine(
  owner: MachineOwner,
  set: MachineSet,
  name: string,
  fixed: Pick<MachineSpec, 'bootstrap' | 'infrastructureRef'>,
  existing?: Machine,
): Machine {
  const { version, failureDomain } = existing?.spec ?? set.spec.template.spec;
  return machineOf(owner, {
    name,
    existing,
    spec: {
      bootstrap: fixed.bootstrap,
      infrastructureRef: fixed.infrastructureRef,
      ...(version !== undefined && { version }),
      ...(failureDomain !== undefined && { failureDomain }),
      ...inPlaceSpec(set),
    },
  });
}

export async function syncMachinesOfSet(scope: MachineSetScope): Promise<undefined> {
  const { set, context, follower } = scope;
  const { client, signal } = context;
  const owner = machineOwner(scope);
  scope.machines = await syncMachines(owner, scope.machines, {
    desired: (machine) => desiredMachine(owner, set, machine.metadata.name ?? '', machine.spec, machine),
    async parts({ metadata, spec }) {
      const parts: UnstructuredObject[] = [];
      for (const reference of [spec.bootstrap.configRef, spec.infrastructureRef]) {
        const found = reference && (await follower.get(reference, metadata.namespace ?? '', { client, signal }));
        if (found) parts.push(found.object);
      }
      return parts;
    },
  });
}
