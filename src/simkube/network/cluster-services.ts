import type { EndpointSlice, Service, ServicePort } from '../../api/index.ts';

// Services from the view of the cluster network, regardless of their storage.

export const serviceNameLabel = 'kubernetes.io/service-name';

/** Endpoint of a connection to a Service. */
export interface Target {
  readonly address: string;
  readonly port: number;
}

/** Services of a cluster by name and address, with their endpoints. */
export interface ClusterServices {
  get(namespace: string, name: string): Service | undefined;
  /** the Service with this cluster IP or load balancer address and port */
  at(address: string, port: number): { service: Service; port: ServicePort } | 'other-port' | undefined;
  /** ready endpoints of a port */
  targets(service: Service, port: ServicePort): Target[];
  /** addresses of a headless Service: all, or those of one host name */
  addresses(service: Service, hostname?: string): string[];
}

/** Distributes connections round robin to the targets of a Service; undefined without targets. */
export function inTurn(
  services: Pick<ClusterServices, 'targets'>,
): (service: Service, port: ServicePort) => Target | undefined {
  const turns = new Map<string, number>();
  return (service, port) => {
    const targets = services.targets(service, port);
    const key = `${service.metadata.namespace}/${service.metadata.name}:${port.port}`;
    if (targets.length === 0) {
      turns.delete(key);
      return undefined;
    }
    const turn = (turns.get(key) ?? -1) + 1;
    turns.set(key, turn);
    return targets[turn % targets.length];
  };
}

/** All addresses of a Service: cluster IPs and load balancer addresses. */
export function serviceAddresses(service: Service): string[] {
  const all = [...(service.spec.clusterIPs ?? []), ...balancedAddresses(service)];
  return [...new Set(all.filter((address) => address !== '' && address !== 'None'))];
}

export function balancedAddresses({ spec, status }: Service): string[] {
  return spec.type === 'LoadBalancer' ? (status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip ?? '') : [];
}

/** Finds the first Service that has the port. */
export function withPort(
  services: readonly Service[],
  port: number,
): { service: Service; port: ServicePort } | undefined {
  for (const service of services) {
    const servicePort = service.spec.ports?.find((candidate) => candidate.port === port && isTcp(candidate));
    if (servicePort) return { service, port: servicePort };
  }
  return undefined;
}

function isTcp({ protocol }: ServicePort): boolean {
  return (protocol ?? 'TCP') === 'TCP';
}

export function targetsBehind(slices: readonly EndpointSlice[], { name = '' }: ServicePort): Target[] {
  const targets: Target[] = [];
  for (const { endpoints = [], ports = [] } of ipv4(slices)) {
    const port = ports.find((candidate) => (candidate.name ?? '') === name)?.port;
    if (port === undefined) continue;
    for (const { addresses, conditions } of endpoints) {
      if (conditions?.ready !== false && addresses[0]) targets.push({ address: addresses[0], port });
    }
  }
  // Sorted, because the order of endpoints in slices is not stable.
  return targets.sort((left, right) => (left.address < right.address ? -1 : left.address > right.address ? 1 : 0));
}

export function addressesBehind(slices: readonly EndpointSlice[], hostname?: string): string[] {
  const found: string[] = [];
  for (const { endpoints = [] } of ipv4(slices)) {
    for (const { addresses, conditions, hostname: own } of endpoints) {
      if (hostname !== undefined && own !== hostname) continue;
      if (conditions?.ready !== false) found.push(...addresses);
    }
  }
  return found.sort();
}

function ipv4(slices: readonly EndpointSlice[]): EndpointSlice[] {
  return slices.filter(({ addressType }) => (addressType ?? 'IPv4') === 'IPv4');
}
