import { asJson, asTyped, clone, deepEqual, ignoreNotFound, must } from '../../machinery/index.ts';
import type { ResourceApi } from '../service/resource-api.ts';
import type { Caller } from '../service/types.ts';
import { updateObject } from '../service/update.ts';
import { keyPrefix } from '../storage/keys.ts';
import { aggregate, isAggregated } from './rbac/aggregation.ts';
import type { ClusterRole } from './rbac/types.ts';
import { loopbackUser } from './user.ts';

/**
 * Keeps the rules of aggregated ClusterRoles in sync with the roles that their selectors match. Returns a function that
 * stops it and waits for running work.
 */
export function startRoleAggregation(api: ResourceApi, onError: (error: unknown) => void): () => Promise<void> {
  const { context } = api;
  const roles = context.registry.find('rbac.authorization.k8s.io', 'v1', 'clusterroles');
  if (!roles) return async () => {};
  const prefix = keyPrefix(roles.resource.keySpace);
  const stop = new AbortController();
  const caller: Caller = { user: loopbackUser, userAgent: 'capstan', signal: stop.signal, warn: () => {} };
  let running: Promise<void> | undefined;
  let again = false;

  const settle = async (): Promise<void> => {
    const all = context.store.list(prefix).records.map(({ value }) => asTyped<ClusterRole>(value.object));
    for (const role of all) {
      if (stop.signal.aborted || !isAggregated(role)) continue;
      const rules = aggregate(role, all);
      if (deepEqual(rules, role.rules ?? [])) continue;
      await updateObject({
        context,
        target: { ...roles, namespace: undefined, name: must(role.metadata.name, 'metadata.name') },
        subresource: undefined,
        caller,
        settings: { dryRun: false, fieldManager: 'clusterrole-aggregation-controller', fieldValidation: 'Ignore' },
        next: (live) => {
          const draft = clone(live);
          draft['rules'] = asJson(clone(rules));
          return { draft, conditional: false };
        },
      }).catch(ignoreNotFound);
    }
  };

  /** A change during a round triggers another round; a round without changes ends the loop. */
  const wake = (): void => {
    if (running) {
      again = true;
      return;
    }
    running = settle()
      .catch((error: unknown) => {
        if (!stop.signal.aborted) onError(error);
      })
      .finally(() => {
        running = undefined;
        if (again && !stop.signal.aborted) {
          again = false;
          wake();
        }
      });
  };

  const unsubscribe = context.store.watch(prefix, context.store.revision, wake);
  wake();
  return async () => {
    stop.abort();
    unsubscribe();
    await running;
  };
}
