import { type Client, objectKey } from '../../client/index.ts';
import { ignoreNotFound, isAlreadyExists, type UnstructuredObject } from '../../machinery/index.ts';
import { type AppliedObject, projectionOf, type ServedKinds, shows } from '../shared/index.ts';
import { applyFailure } from './apply-failure.ts';
import type { Payload } from './payload.ts';

export const resourceSetFieldManager = 'capstan-cluster-resource-set';

export interface PayloadTarget {
  readonly client: Client;
  readonly kinds: ServedKinds;
  readonly signal: AbortSignal;
  /** true for payloads from a Secret; their content must not appear in messages */
  readonly isSecret: boolean;
}

export interface PayloadResult {
  readonly applied: readonly AppliedObject[];
  /** one line per object that could not be applied; all other objects were applied */
  readonly failures: readonly string[];
}

/** Creates missing objects and leaves existing ones unchanged. */
export function createPayload(target: PayloadTarget, payload: Payload): Promise<PayloadResult> {
  return eachObject(target, payload, async (object, resource) => {
    try {
      const { client, signal } = target;
      return await client.create(resource, object, { fieldManager: resourceSetFieldManager, signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      return object;
    }
  });
}

/**
 * Applies every object. With `look`, writes only objects that differ, so a restarted process does not repeat all its
 * writes.
 */
export function applyPayload(
  target: PayloadTarget,
  payload: Payload,
  options: { look: boolean },
): Promise<PayloadResult> {
  return eachObject(target, payload, async (object, resource) => {
    const { client, signal } = target;
    if (options.look) {
      const live = await client.get(resource, objectKey(object), { signal }).catch(ignoreNotFound);
      if (live && live.metadata.deletionTimestamp === undefined && shows(live, object)) return live;
    }
    return await client.apply(resource, object, { fieldManager: resourceSetFieldManager, force: true, signal });
  });
}

async function eachObject(
  { kinds, signal, isSecret }: PayloadTarget,
  { objects }: Payload,
  write: (object: UnstructuredObject, resource: AppliedObject['resource']) => Promise<UnstructuredObject>,
): Promise<PayloadResult> {
  const applied: AppliedObject[] = [];
  const failures: string[] = [];
  for (const object of objects) {
    try {
      const resource = await kinds.resourceOf(object, signal);
      const desired = placed(object, resource.namespaced);
      const stored = await write(desired, resource);
      applied.push({
        resource,
        desired,
        expected: projectionOf(stored, desired),
        resourceVersion: stored.metadata.resourceVersion ?? '',
      });
    } catch (error) {
      if (signal.aborted) throw error;
      failures.push(applyFailure(object, error, isSecret));
    }
  }
  return { applied, failures };
}

/**
 * Sets namespace `default` on namespaced objects without one, and removes the namespace from cluster-scoped objects.
 */
function placed(object: UnstructuredObject, namespaced: boolean): UnstructuredObject {
  const { namespace, ...metadata } = object.metadata;
  if (!namespaced) return namespace === undefined ? object : { ...object, metadata };
  return namespace === undefined ? { ...object, metadata: { ...metadata, namespace: 'default' } } : object;
}
