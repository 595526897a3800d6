import type { Ingress, TLSRoute } from '../../api/index.ts';
import { attach, isParent, isServed } from './attachment.ts';
import { matchesHost, specificity } from './hostnames.ts';
import type { GatewayView } from './view.ts';

export interface Backend {
  readonly namespace: string;
  readonly service: string;
  readonly port: number | string;
}

interface Rule {
  readonly pattern: string;
  readonly backend: Backend | undefined;
}

/** All hosts at all addresses, as a snapshot of the objects. */
export interface RouteTable {
  /** the backend for an address, port and host; undefined if nobody listens there */
  backend(address: string, port: number, host: string | undefined): Backend | undefined;
  listens(address: string, port: number): boolean;
  addresses(host: string): string[];
  owns(address: string): boolean;
}

export const ingressPort = 443;

/** Builds the table from Gateways, routes and Ingresses. */
export function buildRouteTable(view: GatewayView, ingressAddress: string): RouteTable {
  const rules = new Map<string, Map<string, Rule>>();
  /** host patterns and their addresses */
  const named = new Map<string, Set<string>>();
  const owned = new Set<string>();

  const name = (pattern: string, address: string): void => {
    if (pattern !== '*') named.set(pattern, (named.get(pattern) ?? new Set()).add(address));
  };
  const listen = (address: string, port: number): Map<string, Rule> => {
    owned.add(address);
    const key = `${address} ${port}`;
    const found = rules.get(key) ?? new Map<string, Rule>();
    rules.set(key, found);
    return found;
  };

  const routes = view.routes().sort(byAge);
  for (const gateway of view.gateways()) {
    const address = gateway.status?.addresses?.[0]?.value;
    if (address === undefined) continue;
    for (const listener of gateway.spec.listeners.filter(isServed)) {
      listen(address, listener.port);
      if (listener.hostname !== undefined) name(listener.hostname, address);
    }
    for (const route of routes) {
      for (const reference of route.spec.parentRefs ?? []) {
        if (!isParent(reference, route, gateway)) continue;
        const attached = attach(gateway, route, reference, (namespace) => view.namespace(namespace));
        if ('reason' in attached) continue;
        for (const { listener, hosts } of attached) {
          for (const pattern of hosts) {
            const table = listen(address, listener.port);
            // If several routes request a host, the oldest wins.
            if (!table.has(pattern)) table.set(pattern, { pattern, backend: backendOf(route, view) });
            name(pattern, address);
          }
        }
      }
    }
  }
  for (const ingress of view.ingresses().sort(byAge)) {
    for (const [pattern, backend] of ingressRules(ingress)) {
      const table = listen(ingressAddress, ingressPort);
      if (!table.has(pattern)) table.set(pattern, { pattern, backend });
      name(pattern, ingressAddress);
    }
  }

  return {
    listens: (address, port) => rules.has(`${address} ${port}`),
    backend: (address, port, host) => bestRule(rules.get(`${address} ${port}`), host)?.backend,
    addresses: (host) => [...(bestPattern(named, host) ?? [])],
    owns: (address) => owned.has(address),
  };
}

function byAge(left: TLSRoute | Ingress, right: TLSRoute | Ingress): number {
  const age = (object: TLSRoute | Ingress): string =>
    `${object.metadata.creationTimestamp} ${object.metadata.namespace}/${object.metadata.name}`;
  return age(left) < age(right) ? -1 : 1;
}

function backendOf(route: TLSRoute, view: GatewayView): Backend | undefined {
  for (const { backendRefs } of route.spec.rules) {
    for (const backend of backendRefs) {
      if (backend.weight === 0 || backend.port === undefined || !view.isGranted(route, backend)) continue;
      const namespace = backend.namespace ?? route.metadata.namespace ?? '';
      return { namespace, service: backend.name, port: backend.port };
    }
  }
  return undefined;
}

function* ingressRules({ metadata, spec }: Ingress): Generator<[string, Backend | undefined]> {
  for (const { host, http } of spec?.rules ?? []) {
    const service = http?.paths?.[0]?.backend?.service ?? spec?.defaultBackend?.service;
    const port = service?.port?.number || service?.port?.name;
    yield [
      host || '*',
      service && port !== undefined ? { namespace: metadata.namespace ?? '', service: service.name, port } : undefined,
    ];
  }
}

function bestRule(rules: ReadonlyMap<string, Rule> | undefined, host: string | undefined): Rule | undefined {
  if (!rules) return undefined;
  const exact = rules.get(host ?? '*');
  if (exact || host === undefined) return exact;
  let best: Rule | undefined;
  for (const rule of rules.values()) {
    if (!matchesHost(rule.pattern, host)) continue;
    if (!best || specificity(rule.pattern) > specificity(best.pattern)) best = rule;
  }
  return best;
}

function bestPattern(named: ReadonlyMap<string, ReadonlySet<string>>, host: string): ReadonlySet<string> | undefined {
  const exact = named.get(host);
  if (exact) return exact;
  // A host has few parent domains, while there may be many patterns.
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) {
    const found = named.get(`*${host.slice(dot)}`);
    if (found) return found;
  }
  return undefined;
}
