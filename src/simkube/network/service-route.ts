import { isIP } from 'node:net';
import { resolveClusterName } from './cluster-names.ts';
import { type ClusterServices, inTurn, type Target } from './cluster-services.ts';

/** Target of a Pod's connection, resolved by cluster DNS and kube-proxy. */
export type ServiceRoute =
  | { readonly kind: 'target'; readonly target: Target }
  /** the API of the cluster, which every node reaches in its own way */
  | { readonly kind: 'api' }
  /** the Service has no endpoints, or not this port */
  | { readonly kind: 'refused' };

/** Routes a name or address; undefined if it does not belong to the cluster. */
export type FindServiceRoute = (host: string, port: number, namespace: string | undefined) => ServiceRoute | undefined;

/** The cluster DNS is a Service itself: names resolve only while it has endpoints. */
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
    // A headless Service leads directly to its Pods, an ExternalName to a name outside of the cluster.
    return toAddress(address, port) ?? { kind: 'target', target: { address, port } };
  };
}
