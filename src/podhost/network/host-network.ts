import { isIP } from 'node:net';
import type { Service, ServicePort } from '../../api/index.ts';
import { type HostNetwork, inTurn, type PortService, resolveClusterName } from '../../simkube/index.ts';
import type { RunningPods } from '../pods/pod-controller.ts';
import type { ServiceTable } from './services.ts';
import { UnreachableError } from './unreachable.ts';

/** Hosts that are distinguished by server name: those of Gateways and Ingresses. */
export interface NamedHosts {
  /** addresses that serve a host */
  addresses(host: string): readonly string[];
  /**
   * the service at an address and port for clients that request this host, or have not named one yet; undefined if it
   * is not ours
   */
  at(address: string, port: number, host: string | undefined): PortService | undefined;
  /** reports whether the address belongs to a Gateway or to the Ingress */
  owns(address: string): boolean;
}

export interface HostNetworkParts {
  readonly table: ServiceTable;
  readonly hosts: NamedHosts;
  pods(): Pick<RunningPods, 'service'>;
  /** addresses at which node ports are reached */
  readonly nodeAddresses: ReadonlySet<string>;
  /** the API that runs this host, as Pods reach it */
  readonly managementApi?: PortService;
}

/** Connects names and addresses to the programs on the host. */
export function createHostNetwork(parts: HostNetworkParts): HostNetwork {
  const { table, hosts, nodeAddresses, managementApi } = parts;
  const next = inTurn(table);

  const resolve = (name: string, namespace?: string): readonly string[] =>
    isIP(name) ? [name] : resolveClusterName(table, name, namespace, (host) => hosts.addresses(host));

  const dialPod = (address: string, port: number): PortService | undefined => {
    const service = parts.pods().service(address, port);
    if (service === 'absent') return undefined;
    if (!service) throw new UnreachableError('ECONNREFUSED', address, port);
    return service;
  };

  const dialService = (address: string, port: number, service: Service, servicePort: ServicePort): PortService => {
    const { namespace, name } = service.metadata;
    if (managementApi && namespace === 'default' && name === 'kubernetes') return managementApi;
    const target = next(service, servicePort);
    const met = target && dialPod(target.address, target.port);
    // A Service without endpoints refuses connections.
    if (!met) throw new UnreachableError('ECONNREFUSED', address, port);
    return met;
  };

  const dialAddress = (
    address: string,
    port: number,
    name: string | undefined,
    namespace: string | undefined,
  ): PortService => {
    const named = hosts.at(address, port, name);
    if (named) return named;
    const found = table.at(address, port);
    if (typeof found === 'object') return dialService(address, port, found.service, found.port);
    const pod = dialPod(address, port);
    if (pod) return pod;
    if (nodeAddresses.has(address)) {
      const byNodePort = table.atNodePort(port);
      if (byNodePort) return dialService(address, port, byNodePort.service, byNodePort.port);
    }
    // A Service may claim any external address. It stays with its real owner; only callers of the Service's namespace
    // are routed to the Service.
    const external =
      namespace !== undefined && !nodeAddresses.has(address) && table.atExternal(address, port, namespace);
    if (external && found === undefined) return dialService(address, port, external.service, external.port);
    const isKnown = found === 'other-port' || nodeAddresses.has(address) || hosts.owns(address);
    throw new UnreachableError(isKnown ? 'ECONNREFUSED' : 'EHOSTUNREACH', address, port);
  };

  return {
    resolve,
    dial(host, port, namespace) {
      if (isIP(host)) return dialAddress(host, port, undefined, namespace);
      const [address] = resolve(host, namespace);
      if (address === undefined) throw new UnreachableError('ENOTFOUND', host, port);
      return dialAddress(address, port, host, namespace);
    },
  };
}
