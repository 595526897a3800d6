import { clone, ignoreNotFound, isJsonObject, must, type UnstructuredObject } from '../../machinery/index.ts';
import { loopbackUser } from '../auth/index.ts';
import type { ResourceApi } from '../service/resource-api.ts';
import type { Caller } from '../service/types.ts';
import { updateObject } from '../service/update.ts';
import { keyPrefix } from '../storage/keys.ts';

const settings = { dryRun: false, fieldManager: 'kube-apiserver', fieldValidation: 'Ignore' } as const;

/**
 * Reports the observed generation on every policy; programs that install policies wait for it. Returns a function that
 * stops it and waits for running work.
 */
export function startPolicyStatus(api: ResourceApi, onError: (error: unknown) => void): () => Promise<void> {
  const { context } = api;
  const policies = context.registry.find('admissionregistration.k8s.io', 'v1', 'validatingadmissionpolicies');
  if (!policies) return async () => {};
  const stop = new AbortController();
  const caller: Caller = { user: loopbackUser, userAgent: 'kube-apiserver', signal: stop.signal, warn: () => {} };
  const writing = new Set<Promise<void>>();

  const observe = (policy: UnstructuredObject): void => {
    if (isObserved(policy) || stop.signal.aborted) return;
    const write = updateObject({
      context,
      target: { ...policies, namespace: undefined, name: must(policy.metadata.name, 'metadata.name') },
      subresource: 'status',
      caller,
      settings,
      next: (live) => {
        const draft = clone(live);
        const status = isJsonObject(draft.status) ? draft.status : {};
        draft.status = { typeChecking: {}, ...status, observedGeneration: live.metadata.generation ?? 1 };
        return { draft, conditional: false };
      },
    })
      .then(() => {}, ignoreNotFound)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) onError(error);
      })
      .finally(() => writing.delete(write));
    writing.add(write);
  };

  const prefix = keyPrefix(policies.resource.keySpace);
  const { records, revision } = context.store.list(prefix);
  for (const { value } of records) observe(value.object);
  const unsubscribe = context.store.watch(prefix, revision, (events) => {
    for (const event of events) if (event.type === 'put') observe(event.record.value.object);
  });
  return async () => {
    stop.abort();
    unsubscribe();
    await Promise.all(writing);
  };
}

function isObserved({ metadata, status }: UnstructuredObject): boolean {
  return isJsonObject(status) && status['observedGeneration'] === (metadata.generation ?? 1);
}
