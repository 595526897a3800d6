import type { Clock } from '../../machinery/index.ts';
import type { HostNetwork, PortService } from '../../simkube/index.ts';
import type { NamedHosts } from '../network/host-network.ts';
import type { ServiceTable } from '../network/services.ts';
import { UnreachableError } from '../network/unreachable.ts';
import { buildRouteTable, type RouteTable } from './route-table.ts';
import { sniRouter } from './sni-router.ts';
import type { GatewayView } from './view.ts';

export interface HostsParts {
  readonly view: GatewayView;
  readonly services: Pick<ServiceTable, 'get'>;
  readonly clock: Clock;
  readonly ingressAddress: string;
  network(): HostNetwork;
}

/** Resolves hosts of Gateways and Ingresses for the network. */
export function gatewayHosts({ view, services, clock, ingressAddress, network }: HostsParts): NamedHosts {
  let table: RouteTable | undefined;
  view.onChange(() => {
    table = undefined;
  });
  const current = (): RouteTable => {
    table ??= buildRouteTable(view, ingressAddress);
    return table;
  };
  const dialHost = (address: string, port: number, host: string | undefined): PortService => {
    const backend = current().backend(address, port, host?.toLowerCase());
    if (!backend) throw new UnreachableError('ECONNRESET', host ?? address, port);
    const { namespace, service } = backend;
    const number =
      typeof backend.port === 'number'
        ? backend.port
        : services.get(namespace, service)?.spec.ports?.find(({ name }) => name === backend.port)?.port;
    if (number === undefined) throw new UnreachableError('ECONNRESET', host ?? address, port);
    return network().dial(`${service}.${namespace}.svc.cluster.local`, number);
  };
  return {
    addresses: (host) => current().addresses(host),
    owns: (address) => current().owns(address),
    at(address, port, host) {
      if (!current().listens(address, port)) return undefined;
      const router = sniRouter((asked) => dialHost(address, port, asked), clock);
      if (host === undefined) return router;
      const { api } = dialHost(address, port, host);
      return { accept: router.accept, ...(api && { api }) };
    },
  };
}
