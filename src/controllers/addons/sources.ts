import { type ClusterResource, type ConfigMap, ConfigMaps, type Secret, Secrets } from '../../api/index.ts';
import { hasContent, type ObjectKey } from '../../client/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import { resourceSetSecretType } from '../shared/index.ts';
import { type Payload, type PayloadAnswer, readPayload } from './payload.ts';

export type SourceReason = 'RetrievingResourceFailed' | 'WrongSecretType' | 'ApplyFailed';

/** A Secret or ConfigMap referenced by a ClusterResourceSet, or the reason why it cannot be used. */
export type Source =
  | { readonly object: Secret | ConfigMap; readonly payload: Payload }
  | { readonly object?: Secret | ConfigMap; readonly reason: SourceReason; readonly problem: string };

export const isUsable = (source: Source): source is Source & { payload: Payload } => 'payload' in source;

/** Reads the resources of sets. Cached objects are immutable, so parsed payloads are memoized per object. */
export function createSources(): (cache: CacheReader, namespace: string, reference: ClusterResource) => Source {
  const payloads = new WeakMap<Secret | ConfigMap, PayloadAnswer>();
  const payloadOf = (object: Secret | ConfigMap): PayloadAnswer => {
    const known = payloads.get(object);
    if (known) return known;
    const answer = readPayload(object);
    payloads.set(object, answer);
    return answer;
  };
  return (cache, namespace, { kind, name }) => {
    const subject = `${kind} ${namespace}/${name}`;
    const object = find(cache, kind, { namespace, name });
    if (!object) {
      return {
        reason: 'RetrievingResourceFailed',
        problem: `${subject} does not exist; create it, or take it off spec.resources`,
      };
    }
    if (object.kind === 'Secret' && !isOfType(object)) {
      const problem = `${subject} is not of type ${resourceSetSecretType}; delete it and create it with that type`;
      return { object, reason: 'WrongSecretType', problem };
    }
    const answer = payloadOf(object);
    return 'problem' in answer
      ? { object, reason: 'ApplyFailed', problem: `${subject}: ${answer.problem}` }
      : { object, payload: answer.payload };
  };
}

function find(cache: CacheReader, kind: ClusterResource['kind'], key: ObjectKey): Secret | ConfigMap | undefined {
  return kind === 'Secret' ? cache.lister(Secrets).get(key) : cache.lister(ConfigMaps).get(key);
}

/** Secrets of the resource-set type are cached with their content, others without. */
function isOfType(secret: Secret | ConfigMap): boolean {
  return hasContent(secret) && 'type' in secret && secret.type === resourceSetSecretType;
}
