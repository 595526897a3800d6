import { type Namespace, Namespaces, type ServiceAccount, ServiceAccounts } from '../api/index.ts';
import { isAlreadyExists, isForbidden, isNotFound } from '../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchMapped, watchObjects } from '../runtime/index.ts';

const defaultName = 'default';
const fieldManager = 'service-account-controller';

/** Creates the `default` service account in every active namespace. */
export function serviceAccountController(): ControllerDefinition {
  return defineController({
    name: 'service-account',
    for: Namespaces,
    watches: [
      watchObjects(Namespaces, { predicates: [(event) => event.type !== 'delete'] }),
      watchMapped(ServiceAccounts, ({ metadata }) => [{ name: metadata.namespace ?? '' }], {
        predicates: [(event) => event.type === 'delete' && event.object.metadata.name === defaultName],
      }),
    ],
    concurrency: 2,
    async reconcile({ client, cache, signal }, { name }) {
      if (!isActive(cache.lister(Namespaces).get({ name }))) return done();
      if (cache.lister(ServiceAccounts).get({ namespace: name, name: defaultName })) return done();
      const account: ServiceAccount = {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: defaultName, namespace: name },
      };
      await client.create(ServiceAccounts, account, { fieldManager, signal }).catch(ignoreLateness);
      return done();
    },
  });
}

/** Reports whether the namespace exists and is not terminating. A terminating namespace accepts no new content. */
export function isActive(namespace: Namespace | undefined): boolean {
  return namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
}

/** Ignores errors which mean that another writer was faster or the namespace is terminating. */
export function ignoreLateness(error: unknown): undefined {
  if (!isAlreadyExists(error) && !isNotFound(error) && !isForbidden(error)) throw error;
  return undefined;
}
