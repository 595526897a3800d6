import { isIP } from 'node:net';
import { resolveClusterName } from './cluster-names.ts';
import { type ClusterServices, inTurn, type Target } from './cluster-services.ts';

/** Where a connection of a Pod goes, as the DNS of its cluster and kube-proxy lead it. */
export type ServiceRoute =
  | { readonly kind: 'target'; readonly target: Target }
  /** the API of the cluster itself, which every node has its own way to */
  | { readonly kind: 'api' }
  /** a Service nobody is behind, or that has no such port */
  | { readonly kind: 'refused' };

/** Finds the way to a name or an address; undefined: it is not of this cluster. */
export type FindServiceRoute = (host: string, port: number, namespace: string | undefined) => ServiceRoute | undefined;

/** The DNS of a cluster is a Service like others: names are found while somebody is behind it. */
const dns = { namespace: 'kube-system', name: 'kube-dns' };

export function serviceRoutes(services: ClusterServices): FindServiceRoute {
  const next = inTurn(services);
  const hasDns = (): boolean => {
    const service = services.get(dns.namespace, dns.name);
    const port = service?.spec.ports?.[0];
    return service !== undefined && port !== undefined && services.targets(service, port).length > 0;
  };
  const toAddress = (address: string, port: number): ServiceRoute | undefined => {
    const found = services.at(address, port);
    if (found === undefined) return undefined;
    if (found === 'other-port') return { kind: 'refused' };
    const { namespace, name } = found.service.metadata;
    if (namespace === 'default' && name === 'kubernetes') return { kind: 'api' };
    const target = next(found.service, found.port);
    return target ? { kind: 'target', target } : { kind: 'refused' };
  };
  return (host, port, namespace) => {
    if (isIP(host)) return toAddress(host, port);
    if (!hasDns()) return undefined;
    const [address] = resolveClusterName(services, host, namespace, () => []);
    if (address === undefined) return undefined;
    // a headless Service leads to its Pods, a name for another name out of the cluster
    return toAddress(address, port) ?? { kind: 'target', target: { address, port } };
  };
}
