import {
  deepEqual,
  fieldError,
  formatTime,
  type ObjectMeta,
  type OwnerReference,
  type Random,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Caller, NamedTarget, Target } from './types.ts';

const generatedSuffixLength = 5;
const maxGeneratedBase = 63 - generatedSuffixLength;

/** Generates a name: the base, truncated to fit, and five random characters. */
export function generateName(base: string, random: Random): string {
  return base.slice(0, maxGeneratedBase) + random.text(generatedSuffixLength);
}

/**
 * Sets or checks the namespace of a body according to the URL. Many manifests set a namespace on cluster-scoped objects
 * such as ClusterRoles, which is dropped.
 */
export function placeInNamespace(draft: UnstructuredObject, target: Target): void {
  const { metadata } = draft;
  if (!target.resource.definition.namespaced) {
    delete metadata.namespace;
    return;
  }
  if (metadata.namespace === undefined || metadata.namespace === '') metadata.namespace = target.namespace ?? '';
  else if (metadata.namespace !== target.namespace) {
    throw statusError.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
}

/** Sets the server-managed metadata of a new object and overwrites values of the client. */
export function stampForCreate(
  draft: UnstructuredObject,
  target: Target,
  options: { nowMs: number; random: Random },
): void {
  const { metadata } = draft;
  metadata.uid = options.random.uuid();
  metadata.creationTimestamp = formatTime(options.nowMs);
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  delete metadata.resourceVersion;
  if (target.resource.definition.noGeneration) delete metadata.generation;
  else metadata.generation = 1;
  dropEmpty(metadata);
}

/** Checks that the names in the body and the URL are equal. */
export function checkNameMatches(draft: UnstructuredObject, target: NamedTarget): void {
  const { metadata } = draft;
  if (metadata.name === undefined || metadata.name === '') metadata.name = target.name;
  else if (metadata.name !== target.name) {
    throw statusError.badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${target.name})`,
    );
  }
}

/** Copies server-managed metadata from the live object to an update. */
export function carryOverMetadata(draft: UnstructuredObject, live: UnstructuredObject): void {
  const next = draft.metadata;
  const old = live.metadata;
  carry(next, old, 'uid');
  carry(next, old, 'creationTimestamp');
  // Omitted values stay unchanged; validation refuses other values.
  if (next.deletionTimestamp === undefined) carry(next, old, 'deletionTimestamp');
  if (next.deletionGracePeriodSeconds === undefined) carry(next, old, 'deletionGracePeriodSeconds');
  carry(next, old, 'generation');
  delete next.selfLink;
  dropEmpty(next);
}

function carry<K extends keyof ObjectMeta>(next: ObjectMeta, old: ObjectMeta, key: K): void {
  if (old[key] === undefined) delete next[key];
  else next[key] = old[key];
}

/** Drops duplicate owner references and warns the client. `stage` is part of the warning text. */
export function dropDuplicateOwners(
  draft: UnstructuredObject,
  caller: Caller,
  stage: '' | ' after mutating admission happens' = '',
): void {
  const { ownerReferences } = draft.metadata;
  if (!ownerReferences || ownerReferences.length < 2) return;
  const kept: OwnerReference[] = [];
  const duplicates: string[] = [];
  for (const reference of ownerReferences) {
    const known = kept.some((other) => other.uid === reference.uid && deepEqual(other, reference));
    if (known) duplicates.push(reference.uid);
    else kept.push(reference);
  }
  if (duplicates.length === 0) return;
  draft.metadata.ownerReferences = kept;
  caller.warn(
    `.metadata.ownerReferences contains duplicate entries${stage}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicates.join(', ')}`,
  );
}

/** Drops empty maps and lists, like Go's omitempty. */
function dropEmpty(metadata: ObjectMeta): void {
  if (metadata.labels && isEmpty(metadata.labels)) delete metadata.labels;
  if (metadata.annotations && isEmpty(metadata.annotations)) delete metadata.annotations;
  if (metadata.ownerReferences?.length === 0) delete metadata.ownerReferences;
  if (metadata.finalizers?.length === 0) delete metadata.finalizers;
  if (metadata.generateName === '') delete metadata.generateName;
}

function isEmpty(map: object): boolean {
  for (const _ in map) return false;
  return true;
}

/** Checks that uid and resourceVersion of an update match the live object. */
export function checkUpdatePreconditions(
  sent: ObjectMeta,
  live: UnstructuredObject,
  target: NamedTarget,
): { unconditional: boolean } {
  const { definition } = target.resource;
  const subject = { group: definition.group, resource: definition.plural, name: target.name };
  if (sent.uid !== undefined && sent.uid !== '' && sent.uid !== live.metadata.uid) {
    throw statusError.conflict(
      subject,
      `Precondition failed: UID in precondition: ${sent.uid}, UID in object meta: ${live.metadata.uid}`,
    );
  }
  const version = sent.resourceVersion;
  if (version === undefined || version === '' || version === '0') {
    if (target.resource.isCustom || definition.conditionalUpdatesOnly) {
      // Only in this response, kube-apiserver names the resource instead of the kind.
      throw statusError.invalid(definition.group, definition.plural, target.name, [
        { ...fieldError.invalid('metadata.resourceVersion', 0, 'must be specified for an update') },
      ]);
    }
    return { unconditional: true };
  }
  if (version !== live.metadata.resourceVersion) throw modifiedConflict(target);
  return { unconditional: false };
}

export function modifiedConflict(target: NamedTarget): Error {
  const { definition } = target.resource;
  return statusError.conflict(
    { group: definition.group, resource: definition.plural, name: target.name },
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}
