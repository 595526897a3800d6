import { type Machine, type MachineSpec, Machines } from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import { formatApiVersion, type KubeObject, type Resource } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { ApplyOnce } from '../apply-once.ts';
import type { Follower } from '../external-objects.ts';
import { machineFinalizer } from '../names.ts';
import { isControlledBy, ownerReference, withOwner } from '../ownership.ts';
import { fieldManager } from '../write-object.ts';

/** Owner of Machines (a MachineSet or control plane) during one reconcile. */
export interface MachineOwner {
  readonly context: ReconcileContext;
  readonly follower: Follower;
  readonly applies: MachineApplies;
  readonly object: KubeObject;
  readonly resource: Resource;
  readonly clusterName: string;
  /** field manager of parts at creation */
  readonly partManager: string;
  /** immutable labels of Machines and their parts */
  readonly labels: Readonly<Record<string, string>>;
  /** the label that names the owner */
  readonly ownerLabel: string;
  /** fields that are propagated to existing Machines */
  readonly template: {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
    readonly deletion?: MachineSpec['deletion'] | undefined;
  };
}

export interface MachineApplies {
  /** applies Machines */
  readonly machine: ApplyOnce;
  /** applies labels and annotations of their parts */
  readonly metadata: ApplyOnce;
}

/** Lists the owner's Machines from the API: a stale cache could lead to a surplus Machine. */
export async function listMachines({ context, object, labels, ownerLabel }: MachineOwner): Promise<Machine[]> {
  const { namespace } = object.metadata;
  const list = await context.client.list(Machines, {
    ...(namespace !== undefined && { namespace }),
    labelSelector: `${ownerLabel}=${labels[ownerLabel]}`,
    signal: context.signal,
  });
  return list.items.filter((machine) => isControlledBy(machine, object));
}

export const machineLabels = ({ template, labels }: MachineOwner): Record<string, string> => ({
  ...template.labels,
  ...labels,
});

export interface DesiredMachine {
  name: string;
  /** the existing Machine, undefined for a new one */
  existing?: Machine | undefined;
  /** in addition to those of the template */
  annotations?: Readonly<Record<string, string>>;
  spec: Omit<MachineSpec, 'clusterName'>;
}

/** Builds the part of a Machine that its owner applies. */
export function machineOf(owner: MachineOwner, { name, existing, annotations, spec }: DesiredMachine): Machine {
  const { namespace } = owner.object.metadata;
  const { configRef, dataSecretName } = spec.bootstrap;
  return {
    apiVersion: formatApiVersion(Machines.group, Machines.version),
    kind: Machines.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(existing?.metadata.uid !== undefined && { uid: existing.metadata.uid }),
      labels: machineLabels(owner),
      annotations: { ...owner.template.annotations, ...annotations },
      ownerReferences: [ownerReference(owner.object, owner.resource, { controller: true })],
      finalizers: [machineFinalizer],
    },
    spec: {
      ...spec,
      clusterName: owner.clusterName,
      // with a configRef, the machine controller sets dataSecretName
      bootstrap: configRef ? { configRef } : dataSecretName === undefined ? {} : { dataSecretName },
    },
  };
}

/** Makes the owner the controller of a Machine without one. */
export async function adoptMachine({ context, object, resource }: MachineOwner, machine: Machine): Promise<Machine> {
  const owner = ownerReference(object, resource, { controller: true });
  const patch = { metadata: { ownerReferences: [...withOwner(machine.metadata.ownerReferences, owner)] } };
  const adopted = await context.client.patch(
    Machines,
    objectKey(machine),
    'merge',
    withOptimisticLock(patch, machine),
    { fieldManager, signal: context.signal },
  );
  context.events.event(object, 'Normal', 'SuccessfulAdopt', `Adopted Machine "${machine.metadata.name}"`);
  return adopted;
}
