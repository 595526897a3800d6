import { type ContractReference, clusterNameLabel, type Machine, Machines } from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import {
  asJson,
  isConflict,
  type JsonObject,
  type OwnerReference,
  parseApiVersion,
  parseRfc3339,
} from '../../../machinery/index.ts';
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

/**
 * Requeue interval while the kind is not installed. The creation of an object of an installed kind triggers a
 * reconcile.
 */
const missingRetryMs = 30_000;

/** Time in which the owner of a new Machine creates what that refers to. */
const creationMs = 5_000;

/**
 * Tells whether the owner of a new Machine is still creating what that refers to: nothing is missing yet. The objects
 * trigger a reconcile.
 */
export async function waitForParts({ context, machine, follower }: MachineScope): Promise<Result | undefined> {
  const { creationTimestamp, namespace = '' } = machine.metadata;
  const created = parseRfc3339(creationTimestamp ?? '');
  if (created === undefined || isDeleting(machine) || !controllerOf(machine)) return undefined;
  const left = created + creationMs - context.clock.now();
  if (left <= 0 || left > creationMs) return undefined;
  const { bootstrap, infrastructureRef } = machine.spec;
  const { client, signal } = context;
  try {
    for (const reference of [bootstrap.configRef, infrastructureRef]) {
      if (!reference || (await follower.get(reference, namespace, { client, signal, onlyCached: true }))) continue;
      return after(left, `${reference.kind} does not exist yet`);
    }
  } catch (error) {
    // reported with the reference
    if (!(error instanceof ContractError)) throw error;
  }
  return undefined;
}

/** Tracks the bootstrap config until its data Secret exists. */
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

/** Tracks the infrastructure machine and copies its provider ID, addresses and failure domain. */
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
  // a provider without a failure domain in its status placed the machine where its spec says
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

/** Sets an initialization step to true; it never goes back to false. */
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
    // a kind that was uninstalled has no objects left
    if (isDeleting(machine) && error instanceof ContractError && error.notInstalled) return { state: 'missing' };
    // reported in a condition; no back-off, because a change of the object triggers a reconcile
    context.log.warn('Reference cannot be followed', { kind: reference.kind, reference: reference.name, error });
    return { state: 'failed', problem: explain(error) };
  }
}

/** Makes the machine the controller of the object, in place of its creator (a machine set or a control plane). */
async function own(scope: MachineScope, provider: ProviderObject): Promise<Referenced> {
  const { context, machine, follower } = scope;
  const { object } = provider;
  const { clusterName } = machine.spec;
  const wanted = ownerReference(machine, Machines, { controller: true });
  const creators = withoutOwner(object.metadata.ownerReferences, (owner) => isCreator(scope, owner));
  const owners = withOwner(creators, wanted);
  const labelled = object.metadata.labels?.[clusterNameLabel] === clusterName;
  if (labelled && owners === object.metadata.ownerReferences) return { state: 'found', provider };
  // objects being deleted are left unchanged
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
    // conflict: the other write triggers a reconcile
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
