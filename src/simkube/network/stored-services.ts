import { type EndpointSlice, EndpointSlices, type Service, Services } from '../../api/index.ts';
import { keyPrefix, objectKey, type StoredObject } from '../../apiserver/index.ts';
import { asTyped } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import {
  addressesBehind,
  type ClusterServices,
  serviceAddresses,
  serviceNameLabel,
  targetsBehind,
  withPort,
} from './cluster-services.ts';

/** Lists all Services in the store of a cluster. */
export function allServices(store: Store<StoredObject> | undefined): Service[] {
  return (store?.list(keyPrefix(Services)).records ?? []).map(({ value }) => asTyped<Service>(value.object));
}

/** Reads Services from the store of a cluster on demand, because idle clusters have no caches of them. */
export function storedServices(store: () => Store<StoredObject> | undefined): ClusterServices {
  const list = <T>(prefix: string): T[] => (store()?.list(prefix).records ?? []).map(({ value }) => value.object as T);
  const slicesOf = ({ metadata }: Service): EndpointSlice[] =>
    list<EndpointSlice>(keyPrefix(EndpointSlices, metadata.namespace)).filter(
      (slice) => slice.metadata.labels?.[serviceNameLabel] === metadata.name,
    );
  return {
    get: (namespace, name) => store()?.get(objectKey(Services, namespace, name))?.value.object as Service | undefined,
    at(address, port) {
      const found = list<Service>(keyPrefix(Services)).filter((service) => serviceAddresses(service).includes(address));
      return withPort(found, port) ?? (found.length > 0 ? 'other-port' : undefined);
    },
    targets: (service, port) => targetsBehind(slicesOf(service), port),
    addresses: (service, hostname) => addressesBehind(slicesOf(service), hostname),
  };
}
