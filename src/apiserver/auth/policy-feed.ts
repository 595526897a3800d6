import { asTyped } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { keyPrefix, nameOfKey, namespaceOfKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { RbacIndex, RbacKind } from './rbac/rbac-index.ts';
import type { Role, RoleBinding } from './rbac/types.ts';

const kinds: readonly [kind: RbacKind, plural: string, namespaced: boolean][] = [
  ['Role', 'roles', true],
  ['ClusterRole', 'clusterroles', false],
  ['RoleBinding', 'rolebindings', true],
  ['ClusterRoleBinding', 'clusterrolebindings', false],
];

/** Keeps the RBAC index in sync with the stored policy objects. Returns a function that stops it. */
export function feedRbacIndex(store: Store<StoredObject>, index: RbacIndex): () => void {
  const stops = kinds.map(([kind, plural, namespaced]) => {
    const prefix = keyPrefix({ group: 'rbac.authorization.k8s.io', plural });
    const present = store.list(prefix);
    const set = (value: StoredObject): void => index.set(kind, asTyped<Role | RoleBinding>(value.object));
    for (const record of present.records) set(record.value);
    return store.watch(prefix, present.revision, (events) => {
      for (const event of events) {
        if (event.type === 'put') set(event.record.value);
        else index.delete(kind, namespaced ? namespaceOfKey(event.key) : '', nameOfKey(event.key));
      }
    });
  });
  return () => {
    for (const stop of stops) stop();
  };
}
