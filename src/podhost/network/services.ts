import { type EndpointSlice, EndpointSlices, type Service, type ServicePort, Services } from '../../api/index.ts';
import type { InformerFactory, Lister } from '../../client/index.ts';
import {
  addressesBehind,
  balancedAddresses,
  type ClusterServices,
  serviceAddresses,
  serviceNameLabel,
  targetsBehind,
  withPort,
} from '../../simkube/index.ts';

const byAddress = 'podhost-by-address';
const byExternalAddress = 'podhost-by-external-address';
const byNodePort = 'podhost-by-node-port';
const byService = 'podhost-by-service';

/** Services from the view of the host network. */
export interface ServiceTable extends ClusterServices {
  /** the Service of a namespace that lists the address as an external IP */
  atExternal(address: string, port: number, namespace: string): { service: Service; port: ServicePort } | undefined;
  atNodePort(port: number): { service: Service; port: ServicePort } | undefined;
  /** reports whether the address is recorded for another Service */
  isHeldByOther(address: string, service?: Service): boolean;
}

/** Must be called before the caches start. */
export function serviceTable(cache: InformerFactory): ServiceTable {
  const services = cache.informer(Services);
  const slices = cache.informer(EndpointSlices);
  services.addIndexer(byAddress, serviceAddresses);
  services.addIndexer(byExternalAddress, ({ spec, metadata }) =>
    (spec.externalIPs ?? []).map((address) => `${metadata.namespace}/${address}`),
  );
  services.addIndexer(byNodePort, ({ spec }) =>
    (spec.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [String(nodePort)] : [])),
  );
  slices.addIndexer(byService, ({ metadata }) => {
    const name = metadata.labels?.[serviceNameLabel];
    return name === undefined ? [] : [`${metadata.namespace}/${name}`];
  });
  const { lister } = services;
  const slicesOf = ({ metadata }: Service): EndpointSlice[] =>
    slices.lister.byIndex(byService, `${metadata.namespace}/${metadata.name}`);

  return {
    get: (namespace, name) => lister.get({ namespace, name }),
    at(address, port) {
      const found = lister.byIndex(byAddress, address);
      return withPort(found, port) ?? (found.length > 0 ? 'other-port' : undefined);
    },
    atExternal: (address, port, namespace) =>
      withPort(lister.byIndex(byExternalAddress, `${namespace}/${address}`).toSorted(byAge), port),
    atNodePort: (port) => findNodePort(lister, port),
    targets: (service, port) => targetsBehind(slicesOf(service), port),
    addresses: (service, hostname) => addressesBehind(slicesOf(service), hostname),
    isHeldByOther: (address, service) =>
      lister.byIndex(byAddress, address).some((other) => {
        if (other.metadata.uid === service?.metadata.uid) return false;
        // The address that another load balancer implementation reports may also belong to one of ours.
        return !isForeign(other) || !balancedAddresses(other).includes(address);
      }),
  };
}

/** Reports whether the Service needs addresses or ports of the host. */
export function isExposed({ spec, status }: Service): boolean {
  return spec.type === 'LoadBalancer' || spec.type === 'NodePort' || (status?.loadBalancer?.ingress?.length ?? 0) > 0;
}

const ourClass = 'capstan.dev/loopback';

/** Load balancers of another class are left to their own implementation. */
export function isForeign({ spec }: Service): boolean {
  return spec.loadBalancerClass !== undefined && spec.loadBalancerClass !== ourClass;
}

/** If two Services claim the same address, the older one wins. */
function byAge({ metadata: left }: Service, { metadata: right }: Service): number {
  const [one = '', other = ''] = [left, right].map(
    ({ creationTimestamp = '', uid = '' }) => `${creationTimestamp} ${uid}`,
  );
  return one < other ? -1 : 1;
}

function findNodePort(lister: Lister<Service>, port: number): { service: Service; port: ServicePort } | undefined {
  const [service] = lister.byIndex(byNodePort, String(port));
  const servicePort = service?.spec.ports?.find(({ nodePort }) => nodePort === port);
  return service && servicePort && { service, port: servicePort };
}
