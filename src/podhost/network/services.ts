import { type EndpointSlice, EndpointSlices, type Service, type ServicePort, Services } from '../../api/index.ts';
import type { InformerFactory, Lister } from '../../client/index.ts';

const byAddress = 'podhost-by-address';
const byExternalAddress = 'podhost-by-external-address';
const byNodePort = 'podhost-by-node-port';
const byService = 'podhost-by-service';
const serviceNameLabel = 'kubernetes.io/service-name';

/** Where a connection to a port of a Service may go. */
export interface Target {
  readonly address: string;
  readonly port: number;
}

/** Services as the network sees them: by their addresses, with what stands behind them. */
export interface ServiceTable {
  get(namespace: string, name: string): Service | undefined;
  /** the Service that has this cluster IP or load-balancer address for this port */
  at(address: string, port: number): { service: Service; port: ServicePort } | 'other-port' | undefined;
  /** the Service of a namespace that names the address as one that leads to it */
  atExternal(address: string, port: number, namespace: string): { service: Service; port: ServicePort } | undefined;
  atNodePort(port: number): { service: Service; port: ServicePort } | undefined;
  /** ready addresses behind a port */
  targets(service: Service, port: ServicePort): Target[];
  /** addresses behind a headless Service: all, or those of one host name */
  addresses(service: Service, hostname?: string): string[];
  /** whether the address is written down for another Service */
  isHeldByOther(address: string, service?: Service): boolean;
}

/** To be called before the caches start. */
export function serviceTable(cache: InformerFactory): ServiceTable {
  const services = cache.informer(Services);
  const slices = cache.informer(EndpointSlices);
  services.addIndexer(byAddress, addressesOf);
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
    ipv4(slices.lister.byIndex(byService, `${metadata.namespace}/${metadata.name}`));

  return {
    get: (namespace, name) => lister.get({ namespace, name }),
    at(address, port) {
      const found = lister.byIndex(byAddress, address);
      return withPort(found, port) ?? (found.length > 0 ? 'other-port' : undefined);
    },
    atExternal: (address, port, namespace) =>
      withPort(lister.byIndex(byExternalAddress, `${namespace}/${address}`).toSorted(byAge), port),
    atNodePort: (port) => findNodePort(lister, port),
    targets: (service, port) => targetsOf(slicesOf(service), port),
    addresses(service, hostname) {
      const found: string[] = [];
      for (const { endpoints = [] } of slicesOf(service)) {
        for (const { addresses, conditions, hostname: own } of endpoints) {
          if (hostname !== undefined && own !== hostname) continue;
          if (conditions?.ready !== false) found.push(...addresses);
        }
      }
      return found.sort();
    },
    isHeldByOther: (address, service) =>
      lister.byIndex(byAddress, address).some((other) => {
        if (other.metadata.uid === service?.metadata.uid) return false;
        // what another kind of load balancer shows may well be an address that belongs to one of ours
        return !isForeign(other) || !balancedAddresses(other).includes(address);
      }),
  };
}

/** Whether addresses or ports of the host are for it. */
export function isExposed({ spec, status }: Service): boolean {
  return spec.type === 'LoadBalancer' || spec.type === 'NodePort' || (status?.loadBalancer?.ingress?.length ?? 0) > 0;
}

const ourClass = 'capstan.dev/loopback';

/** Somebody else's kind of load balancer is theirs to provide. */
export function isForeign({ spec }: Service): boolean {
  return spec.loadBalancerClass !== undefined && spec.loadBalancerClass !== ourClass;
}

function balancedAddresses({ spec, status }: Service): string[] {
  return spec.type === 'LoadBalancer' ? (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? '') : [];
}

function addressesOf(service: Service): string[] {
  const { spec } = service;
  const all = [...(spec.clusterIPs ?? []), ...balancedAddresses(service)];
  return [...new Set(all.filter((address) => address !== '' && address !== 'None'))];
}

function withPort(services: readonly Service[], port: number): { service: Service; port: ServicePort } | undefined {
  for (const service of services) {
    const servicePort = service.spec.ports?.find((candidate) => candidate.port === port && isTcp(candidate));
    if (servicePort) return { service, port: servicePort };
  }
  return undefined;
}

/** Of two that name the same address the older has it. */
function byAge({ metadata: left }: Service, { metadata: right }: Service): number {
  const order = [left, right].map(({ creationTimestamp = '', uid = '' }) => `${creationTimestamp} ${uid}`);
  return order[0]! < order[1]! ? -1 : 1;
}

function findNodePort(lister: Lister<Service>, port: number): { service: Service; port: ServicePort } | undefined {
  const [service] = lister.byIndex(byNodePort, String(port));
  const servicePort = service?.spec.ports?.find(({ nodePort }) => nodePort === port);
  return service && servicePort && { service, port: servicePort };
}

function isTcp({ protocol }: ServicePort): boolean {
  return (protocol ?? 'TCP') === 'TCP';
}

function ipv4(slices: EndpointSlice[]): EndpointSlice[] {
  return slices.filter(({ addressType }) => (addressType ?? 'IPv4') === 'IPv4');
}

function targetsOf(slices: readonly EndpointSlice[], { name = '' }: ServicePort): Target[] {
  const targets: Target[] = [];
  for (const { endpoints = [], ports = [] } of slices) {
    const port = ports.find((candidate) => (candidate.name ?? '') === name)?.port;
    if (port === undefined) continue;
    for (const { addresses, conditions } of endpoints) {
      if (conditions?.ready !== false && addresses[0]) targets.push({ address: addresses[0], port });
    }
  }
  // The order of endpoints in their slices is nobody's promise.
  return targets.sort((left, right) => (left.address < right.address ? -1 : left.address > right.address ? 1 : 0));
}
