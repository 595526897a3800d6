import { type ConfigMap, ConfigMaps, Namespaces } from '../api/index.ts';
import { deepEqual } from '../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchMapped, watchObjects } from '../runtime/index.ts';
import { ignoreLateness, isActive } from './service-accounts.ts';

export interface RootCaPublisherOptions {
  /** PEM of the CA certificates that verify the API server */
  certificateAuthority: string;
}

const configMapName = 'kube-root-ca.crt';
const descriptionKey = 'kubernetes.io/description';
const description = 'Certificate authorities with which pods check that they talk to the API server of this cluster.';
const fieldManager = 'root-ca-certificate-publisher';

/** Writes the CA of the API server into a ConfigMap in every active namespace. Pods mount it from there. */
export function rootCaPublisher(options: RootCaPublisherOptions): ControllerDefinition {
  const data = { 'ca.crt': options.certificateAuthority };
  return defineController({
    name: 'root-ca-publisher',
    for: Namespaces,
    watches: [
      watchObjects(Namespaces, { predicates: [(event) => event.type !== 'delete'] }),
      watchMapped(ConfigMaps, ({ metadata }) => [{ name: metadata.namespace ?? '' }], {
        predicates: [(event) => event.type !== 'add' && event.object.metadata.name === configMapName],
      }),
    ],
    concurrency: 2,
    async reconcile({ client, cache, signal }, { name }) {
      if (!isActive(cache.lister(Namespaces).get({ name }))) return done();
      const existing = cache.lister(ConfigMaps).get({ namespace: name, name: configMapName });
      if (existing && deepEqual(existing.data, data) && existing.metadata.annotations?.[descriptionKey]) return done();
      const annotations = { ...existing?.metadata.annotations, [descriptionKey]: description };
      if (existing) {
        // An update instead of a patch, so that keys added by others are removed.
        const desired: ConfigMap = { ...existing, metadata: { ...existing.metadata, annotations }, data };
        await client.update(ConfigMaps, desired, { fieldManager, signal }).catch(ignoreLateness);
      } else {
        const desired: ConfigMap = {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: configMapName, namespace: name, annotations },
          data,
        };
        await client.create(ConfigMaps, desired, { fieldManager, signal }).catch(ignoreLateness);
      }
      return done();
    },
  });
}
