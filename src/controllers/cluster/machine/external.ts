import { type ContractReference, clusterNameLabel, type Machine, Machines } from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import { asJson, isConflict, type JsonObject, type OwnerReference, parseApiVersion } from '../../../machinery/index.ts';
import { after, type Result } from '../../../runtime/index.ts';
import {
  addressesOf,
  ContractError,
  controllerOf,
  controlPlaneLabel,
  dataSecretName,
  explain,
  failureDomainOf,
  fieldManager,
  isDataSecretCreated,
  isDeleting,
  isProvisioned,
  ownerReference,
  type ProviderObject,
  providerIdOf,
  withOwner,
  withoutOwner,
} from '../../shared/index.ts';
import type { MachineScope, Referenced } from './scope.ts';

/** The object may be applied after the machine; its arrival wakes us, this is for kinds that are not installed yet. */
const missingRetryMs = 30_000;

/** Follows the bootstrap config until its data are there. */
export async function reconcileBootstrap(scope: MachineScope): Promise<Result | undefined> {
  const { machine } = scope;
  const { configRef } = machine.spec.bootstrap;
  if (!configRef) {
    scope.bootstrap = { state: 'none' };
    if (machine.spec.bootstrap.dataSecretName !== undefined) latch(machine, 'bootstrapDataSecretCreated');
    return undefined;
  }
  scope.bootstrap = await lookUp(scope, configRef);
  if (scope.bootstrap.state !== 'found') return isDeleting(machine) ? undefined : waitFor(configRef.kind);
  const { provider } = scope.bootstrap;
  if (machine.spec.bootstrap.dataSecretName !== undefined) {
    latch(machine, 'bootstrapDataSecretCreated');
    return undefined;
  }
  if (isDeleting(provider.object) || !isDataSecretCreated(provider)) return undefined;
  const secret = dataSecretName(provider);
  if (secret === undefined) {
    const problem = `${configRef.kind} ${configRef.name} reports its data secret as created but does not name it in status.dataSecretName`;
    scope.bootstrap = { state: 'failed', problem };
    return undefined;
  }
  machine.spec.bootstrap = { ...machine.spec.bootstrap, dataSecretName: secret };
  latch(machine, 'bootstrapDataSecretCreated');
  return undefined;
}

/** Follows the infrastructure machine and takes over what it says of itself. */
export async function reconcileInfrastructure(scope: MachineScope): Promise<Result | undefined> {
  const { machine } = scope;
  const reference = machine.spec.infrastructureRef;
  scope.infrastructure = await lookUp(scope, reference);
  if (scope.infrastructure.state !== 'found') return isDeleting(machine) ? undefined : waitFor(reference.kind);
  const { provider } = scope.infrastructure;
  const known = machine.status?.initialization?.infrastructureProvisioned === true;
  if (isDeleting(provider.object) || (!isProvisioned(provider) && !known)) return undefined;
  const providerId = providerIdOf(provider);
  if (providerId === undefined) return undefined;
  const addresses = addressesOf(provider);
  // a provider that does not say where the machine is was told by its spec
  const failureDomain = failureDomainOf(provider) ?? machine.spec.failureDomain;
  machine.spec.providerID = providerId;
  machine.status = { ...machine.status };
  if (addresses && addresses.length > 0) machine.status.addresses = addresses;
  else delete machine.status.addresses;
  if (failureDomain !== undefined) machine.status.failureDomain = failureDomain;
  latch(machine, 'infrastructureProvisioned');
  return undefined;
}

function waitFor(kind: string): Result {
  return after(missingRetryMs, `${kind} does not exist`);
}

/** Notes that a step was reached; these notes never go back. */
function latch(machine: Machine, step: 'bootstrapDataSecretCreated' | 'infrastructureProvisioned'): void {
  if (machine.status?.initialization?.[step] === true) return;
  machine.status = { ...machine.status, initialization: { ...machine.status?.initialization, [step]: true } };
}

async function lookUp(scope: MachineScope, reference: ContractReference): Promise<Referenced> {
  const { context, follower, machine } = scope;
  try {
    const provider = await follower.get(reference, machine.metadata.namespace ?? '', {
      client: context.client,
      signal: context.signal,
    });
    if (!provider) return { state: 'missing' };
    return await own(scope, provider);
  } catch (error) {
    if (context.signal.aborted) throw error;
    // a kind that was uninstalled took its objects with it
    if (isDeleting(machine) && error instanceof ContractError && error.notInstalled) return { state: 'missing' };
    // told in the condition; the controller's back-off would only repeat what a change of the world will end
    context.log.warn('Reference cannot be followed', { kind: reference.kind, reference: reference.name, error });
    return { state: 'failed', problem: explain(error) };
  }
}

/** Makes the machine the owner; whoever created the object for it (a machine set, a control plane) hands it over. */
async function own(scope: MachineScope, provider: ProviderObject): Promise<Referenced> {
  const { context, machine, follower } = scope;
  const { object } = provider;
  const { clusterName } = machine.spec;
  const wanted = ownerReference(machine, Machines, { controller: true });
  const creators = withoutOwner(object.metadata.ownerReferences, (owner) => isCreator(scope, owner));
  const owners = withOwner(creators, wanted);
  const labelled = object.metadata.labels?.[clusterNameLabel] === clusterName;
  if (labelled && owners === object.metadata.ownerReferences) return { state: 'found', provider };
  // an object on its way out is left as it is
  if (isDeleting(object)) return { state: 'found', provider };
  const other = controllerOf(object);
  if (other && other.uid !== wanted.uid && !isCreator(scope, other) && other.name !== wanted.name) {
    const problem = `${object.kind} ${object.metadata.name} belongs to ${other.kind} ${other.name} already`;
    return { state: 'failed', problem };
  }
  const patch: JsonObject = {
    metadata: { labels: { [clusterNameLabel]: clusterName }, ownerReferences: asJson(owners) },
  };
  const { group } = parseApiVersion(object.apiVersion);
  const { resource } = await follower.kindOf({ apiGroup: group, kind: object.kind }, context.signal);
  try {
    const stored = await context.client.patch(resource, objectKey(object), 'merge', withOptimisticLock(patch, object), {
      fieldManager,
      signal: context.signal,
    });
    return { state: 'found', provider: { ...provider, object: stored } };
  } catch (error) {
    if (!isConflict(error)) throw error;
    // somebody wrote in between: that change wakes us again
    return { state: 'found', provider };
  }
}

function isCreator({ cluster, machine }: MachineScope, owner: OwnerReference): boolean {
  const { group } = parseApiVersion(owner.apiVersion);
  if (group === Machines.group && owner.kind === 'MachineSet') return true;
  const controlPlane = cluster?.spec.controlPlaneRef;
  return (
    controlPlane !== undefined &&
    machine.metadata.labels?.[controlPlaneLabel] !== undefined &&
    group === controlPlane.apiGroup &&
    owner.kind === controlPlane.kind
  );
}
