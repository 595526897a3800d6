import {
  type ConfigMap,
  ConfigMaps,
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Secret,
  Secrets,
  type Service,
  Services,
} from '../../api/index.ts';
import type { Client, InformerFactory, ObjectKey } from '../../client/index.ts';
import { isNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';

/** Objects that Pods refer to; undefined: there is none. */
export interface ObjectLookup {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined>;
  volume(name: string): Promise<PersistentVolume | undefined>;
  /** of a namespace */
  services(namespace: string): Promise<readonly Service[]>;
}

/** Asks the API every time: a kubelet has no caches of what its few Pods are made of. */
export function directLookup(connect: () => Client): ObjectLookup {
  const find = async <T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> =>
    connect()
      .get(resource, key)
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return undefined;
      });
  return {
    configMap: (namespace, name) => find(ConfigMaps, { namespace, name }),
    secret: (namespace, name) => find(Secrets, { namespace, name }),
    claim: (namespace, name) => find(PersistentVolumeClaims, { namespace, name }),
    volume: (name) => find(PersistentVolumes, { name }),
    services: async (namespace) => (await connect().list(Services, { namespace })).items,
  };
}

/** Looks into the caches, and asks the API before it says that something is missing: caches may be a moment late. */
export function objectLookup(client: Client, cache: InformerFactory): ObjectLookup {
  const finder = <T extends KubeObject>(resource: Resource<T>): ((key: ObjectKey) => Promise<T | undefined>) => {
    const { lister } = cache.informer(resource);
    return async (key) =>
      lister.get(key) ??
      client.get(resource, key).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return undefined;
      });
  };
  const configMap = finder(ConfigMaps);
  const secret = finder(Secrets);
  const claim = finder(PersistentVolumeClaims);
  const volume = finder(PersistentVolumes);
  const services = cache.informer(Services).lister;
  return {
    configMap: (namespace, name) => configMap({ namespace, name }),
    secret: (namespace, name) => secret({ namespace, name }),
    claim: (namespace, name) => claim({ namespace, name }),
    volume: (name) => volume({ name }),
    services: async (namespace) => services.list({ namespace }),
  };
}
