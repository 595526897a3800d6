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

/** The name a `generateName` stands for: the base, cut to fit, and five random characters. */
export function generateName(base: string, random: Random): string {
  return base.slice(0, maxGeneratedBase) + random.text(generatedSuffixLength);
}

/**
 * An object belongs where the URL says; a body that names another namespace or none is checked or completed. Manifests of many
 * programs name one on their ClusterRoles, where it means nothing and is forgotten.
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

/** Server-set metadata of a new object; whatever the client sent there is overwritten. */
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

/** Name in the body and name in the URL must agree. */
export function checkNameMatches(draft: UnstructuredObject, target: NamedTarget): void {
  const { metadata } = draft;
  if (metadata.name === undefined || metadata.name === '') metadata.name = target.name;
  else if (metadata.name !== target.name) {
    throw statusError.badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${target.name})`,
    );
  }
}

/** Server-set metadata is carried over from the live object on every update. */
export function carryOverMetadata(draft: UnstructuredObject, live: UnstructuredObject): void {
  const next = draft.metadata;
  const old = live.metadata;
  carry(next, old, 'uid');
  carry(next, old, 'creationTimestamp');
  // Leaving these out is no change; saying something else is refused by validation.
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

/**
 * An owner that stands twice counts once, and the sender is told. `stage` says when it was noticed, for the words of the
 * warning.
 */
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

/** Empty maps and lists are stored as absent, like Go's omitempty. */
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

/** The client's idea of which object it updates must hold. */
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
      // kube-apiserver names the resource, not the kind, in this one answer.
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
