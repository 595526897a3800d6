import { aggregateText, type Condition, deepEqual, withCondition } from '../../machinery/index.ts';
import { approvalOf, isProtectedGroup } from './approval.ts';
import type { CrdNames, CustomResourceDefinition } from './types.ts';

export interface CrdNamesEvaluation {
  acceptedNames: CrdNames;
  conditions: Condition[];
  /** whether the kind is served */
  established: boolean;
}

/**
 * Decides which of the wanted names a definition gets. A name already accepted for another definition of the group is
 * refused, the others are given; names a definition already has stay its own. Once established, a definition stays so.
 *
 * @param others all other definitions; those of other groups do not matter
 */
export function evaluateCrdNames(
  crd: CustomResourceDefinition,
  others: Iterable<CustomResourceDefinition>,
  nowMs: number,
): CrdNamesEvaluation {
  const taken = takenNames(crd, others);
  const wanted = crd.spec.names;
  const held = crd.status?.acceptedNames ?? { plural: '', kind: '' };
  const accepted: CrdNames = { ...held };
  let conflict: { reason: string; message: string } | undefined;
  const claim = (name: 'plural' | 'singular' | 'kind' | 'listKind', used: Set<string>, reason: string): void => {
    const value = wanted[name] ?? '';
    if (value !== (held[name] ?? '') && used.has(value)) conflict = { reason, message: inUse(value) };
    else if (value !== '' || name === 'plural' || name === 'kind') accepted[name] = value;
    else delete accepted[name];
  };

  claim('plural', taken.resources, 'PluralConflict');
  claim('singular', taken.resources, 'SingularConflict');
  if (!deepEqual(wanted.shortNames ?? [], held.shortNames ?? [])) {
    const clashes = (wanted.shortNames ?? []).filter(
      (name) => !held.shortNames?.includes(name) && taken.resources.has(name),
    );
    if (clashes.length > 0) {
      const messages = clashes.map(inUse);
      const message = aggregateText(messages);
      conflict = { reason: 'ShortNamesConflict', message };
    } else setOrDelete(accepted, 'shortNames', wanted.shortNames);
  }
  claim('kind', taken.kinds, 'KindConflict');
  claim('listKind', taken.kinds, 'ListKindConflict');
  setOrDelete(accepted, 'categories', wanted.categories);

  const namesAccepted: Condition = conflict
    ? { type: 'NamesAccepted', status: 'False', ...conflict }
    : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
  const established = establishedCondition(crd, conflict === undefined);
  const updates = [namesAccepted, established, ...approvalConditions(crd)];
  return {
    acceptedNames: accepted,
    conditions: mergeConditions(crd.status?.conditions ?? [], updates, nowMs),
    established: established.status === 'True',
  };
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

function setOrDelete(names: CrdNames, key: 'shortNames' | 'categories', value: string[] | undefined): void {
  if (value) names[key] = value;
  else delete names[key];
}

function takenNames(
  crd: CustomResourceDefinition,
  others: Iterable<CustomResourceDefinition>,
): { resources: Set<string>; kinds: Set<string> } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const other of others) {
    const names = other.status?.acceptedNames;
    if (!names || other.spec.group !== crd.spec.group || other.metadata.name === crd.metadata.name) continue;
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])]) if (name) resources.add(name);
    for (const kind of [names.kind, names.listKind]) if (kind) kinds.add(kind);
  }
  return { resources, kinds };
}

function establishedCondition(crd: CustomResourceDefinition, accepted: boolean): Condition {
  const known = crd.status?.conditions?.find((condition) => condition.type === 'Established');
  if (known?.status === 'True') return known;
  return accepted
    ? {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      }
    : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
}

function approvalConditions(crd: CustomResourceDefinition): Condition[] {
  if (!isProtectedGroup(crd.spec.group)) return [];
  const { state, reason } = approvalOf(crd.metadata.annotations);
  const reasons = {
    invalid: 'InvalidAnnotation',
    missing: 'MissingAnnotation',
    approved: 'ApprovedAnnotation',
    bypassed: 'UnapprovedAnnotation',
  };
  const status = state === 'approved' ? 'True' : 'False';
  return [{ type: 'KubernetesAPIApprovalPolicyConformant', status, reason: reasons[state], message: reason }];
}

/** Keeps the transition time of a condition unless its status changes. */
export function mergeConditions(
  known: readonly Condition[],
  updates: readonly Condition[],
  nowMs: number,
): Condition[] {
  let merged: readonly Condition[] = known;
  for (const update of updates) merged = withCondition(merged, update, nowMs);
  return [...merged];
}
