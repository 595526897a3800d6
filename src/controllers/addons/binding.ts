import {
  addonsGroup,
  type Cluster,
  type ClusterResource,
  type ClusterResourceSet,
  type ClusterResourceSetBinding,
  ClusterResourceSetBindings,
  ClusterResourceSets,
  type ResourceBinding,
} from '../../api/index.ts';
import { objectKey } from '../../client/index.ts';
import { clone, deepEqual, formatApiVersion, ignoreNotFound, type OwnerReference } from '../../machinery/index.ts';
import type { ReconcileContext } from '../../runtime/index.ts';
import { fieldManager, ownerReference, withOwner, withoutOwner, writeObject } from '../shared/index.ts';
import type { ClusterProblem } from './outcomes.ts';

/** API limit of `spec.bindings` in a ClusterResourceSetBinding. */
export const maxSets = 100;

/** Finds the entry of one Secret or ConfigMap of a set in a binding. */
export function boundResource(
  binding: ClusterResourceSetBinding | undefined,
  set: ClusterResourceSet,
  { kind, name }: ClusterResource,
): ResourceBinding | undefined {
  return binding?.spec.bindings
    ?.find(({ clusterResourceSetName }) => clusterResourceSetName === set.metadata.name)
    ?.resources?.find((resource) => resource.kind === kind && resource.name === name);
}

/** Derives the outcome of a set from its binding; undefined until every resource of the set has an entry. */
export function outcomeOf(
  binding: ClusterResourceSetBinding | undefined,
  set: ClusterResourceSet,
): readonly ClusterProblem[] | undefined {
  const problems: ClusterProblem[] = [];
  for (const reference of set.spec.resources) {
    const bound = boundResource(binding, set, reference);
    if (!bound) return undefined;
    if (bound.applied) continue;
    const message = `not everything of ${reference.kind} ${reference.name} could be applied`;
    problems.push({ reason: 'ApplyFailed', message });
  }
  return problems;
}

export interface SetRecord {
  readonly set: ClusterResourceSet;
  readonly resources: readonly ResourceBinding[];
}

/** Writes the results for a cluster if they changed. Entries of sets that are not passed stay. */
export async function writeBinding(
  context: ReconcileContext,
  cluster: Cluster,
  binding: ClusterResourceSetBinding | undefined,
  records: readonly SetRecord[],
): Promise<void> {
  const bindings = [...(binding?.spec.bindings ?? [])];
  let owners: readonly OwnerReference[] = binding?.metadata.ownerReferences ?? [];
  for (const { set, resources } of records) {
    const name = set.metadata.name ?? '';
    const entry = { clusterResourceSetName: name, resources: [...resources] };
    const index = bindings.findIndex(({ clusterResourceSetName }) => clusterResourceSetName === name);
    if (index >= 0) bindings[index] = entry;
    else if (resources.length > 0) bindings.push(entry);
    else continue;
    owners = withOwner(owners, ownerReference(set, ClusterResourceSets));
  }
  const { client, signal } = context;
  const { name = '', namespace = '' } = cluster.metadata;
  if (!binding) {
    if (bindings.length === 0) return;
    const made: ClusterResourceSetBinding = {
      apiVersion: formatApiVersion(addonsGroup, ClusterResourceSetBindings.version),
      kind: ClusterResourceSetBindings.kind,
      metadata: { name, namespace, ownerReferences: [...owners] },
      spec: { clusterName: name, bindings },
    };
    await client.create(ClusterResourceSetBindings, made, { fieldManager, signal });
    return;
  }
  const draft = clone(binding);
  draft.metadata.ownerReferences = [...owners];
  if (!deepEqual(draft.spec.bindings ?? [], bindings)) draft.spec.bindings = bindings;
  await writeObject(context, ClusterResourceSetBindings, binding, draft, { observed: false });
}

/** Removes a set from a binding, and deletes the binding when it was the last one. */
export async function releaseBinding(
  context: ReconcileContext,
  set: ClusterResourceSet,
  binding: ClusterResourceSetBinding,
): Promise<void> {
  const { client, signal } = context;
  const entries = binding.spec.bindings ?? [];
  const rest = entries.filter(({ clusterResourceSetName }) => clusterResourceSetName !== set.metadata.name);
  if (rest.length === entries.length) return;
  if (rest.length === 0) {
    const { uid, resourceVersion } = binding.metadata;
    const preconditions = {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    await client
      .delete(ClusterResourceSetBindings, objectKey(binding), { preconditions, signal })
      .catch(ignoreNotFound);
    return;
  }
  const draft = clone(binding);
  draft.spec.bindings = rest;
  draft.metadata.ownerReferences = [
    ...withoutOwner(draft.metadata.ownerReferences, ({ uid }) => uid === set.metadata.uid),
  ];
  await writeObject(context, ClusterResourceSetBindings, binding, draft, { observed: false }).catch(ignoreNotFound);
}
