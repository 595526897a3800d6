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
import { ignoreNotFound, type KubeObject, type Resource } from '../../machinery/index.ts';

/** Finds objects that Pods refer to; undefined if they do not exist. */
export interface ObjectLookup {
  configMap(namespace: string, name: string): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
  claim(namespace: string, name: string): Promise<PersistentVolumeClaim | undefined>;
  volume(name: string): Promise<PersistentVolume | undefined>;
  /** all Services of a namespace */
  services(namespace: string): Promise<readonly Service[]>;
}

/** Always asks the API: a simulated kubelet has no caches for the objects of its few Pods. */
export function directLookup(connect: () => Client): ObjectLookup {
  const find = async <T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> =>
    connect().get(resource, key).catch(ignoreNotFound);
  return {
    configMap: (namespace, name) => find(ConfigMaps, { namespace, name }),
    secret: (namespace, name) => find(Secrets, { namespace, name }),
    claim: (namespace, name) => find(PersistentVolumeClaims, { namespace, name }),
    volume: (name) => find(PersistentVolumes, { name }),
    services: async (namespace) => (await connect().list(Services, { namespace })).items,
  };
}

/** Cached Secrets and ConfigMaps; undefined if not cached, though the object may exist. */
export interface ContentsAtHand {
  secret(key: ObjectKey): Secret | undefined;
  configMap(key: ObjectKey): ConfigMap | undefined;
}

/** Reads from the caches, and asks the API before it reports a missing object, because caches may be late. */
export function objectLookup(client: Client, cache: InformerFactory, contents: ContentsAtHand): ObjectLookup {
  const ask = <T extends KubeObject>(resource: Resource<T>, key: ObjectKey): Promise<T | undefined> =>
    client.get(resource, key).catch(ignoreNotFound);
  const claims = cache.informer(PersistentVolumeClaims).lister;
  const volumes = cache.informer(PersistentVolumes).lister;
  const services = cache.informer(Services).lister;
  return {
    configMap: async (namespace, name) =>
      contents.configMap({ namespace, name }) ?? ask(ConfigMaps, { namespace, name }),
    secret: async (namespace, name) => contents.secret({ namespace, name }) ?? ask(Secrets, { namespace, name }),
    claim: async (namespace, name) =>
      claims.get({ namespace, name }) ?? ask(PersistentVolumeClaims, { namespace, name }),
    volume: async (name) => volumes.get({ name }) ?? ask(PersistentVolumes, { name }),
    services: async (namespace) => services.list({ namespace }),
  };
}
