import type { Gateway, GatewayListener, Namespace, ParentReference, TLSRoute } from '../../api/index.ts';
import { gatewayGroup } from '../../api/index.ts';
import { labelSelectorFromObject } from '../../machinery/index.ts';
import { intersection } from './hostnames.ts';

// Attachment of routes to listeners, as pure functions of the objects.

/** A listener and the hosts it serves for one route. */
export interface Attachment {
  readonly listener: GatewayListener;
  readonly hosts: readonly string[];
}

/** Reason why a Gateway does not serve a route, in the terms of the Gateway API. */
export interface Refusal {
  readonly reason: 'NoMatchingParent' | 'NotAllowedByListeners' | 'NoMatchingListenerHostname';
  readonly message: string;
}

/** Reports whether this implementation can serve the listener: TLS passthrough only. */
export function isServed({ protocol, tls }: GatewayListener): boolean {
  return protocol === 'TLS' && tls?.mode === 'Passthrough';
}

export function isParent(reference: ParentReference, route: TLSRoute, { metadata }: Gateway): boolean {
  return (
    (reference.group ?? gatewayGroup) === gatewayGroup &&
    (reference.kind ?? 'Gateway') === 'Gateway' &&
    reference.name === metadata.name &&
    (reference.namespace ?? route.metadata.namespace) === metadata.namespace
  );
}

/** Finds the listeners of a Gateway that serve a route through one of its parentRefs, or the reason why none does. */
export function attach(
  gateway: Gateway,
  route: TLSRoute,
  reference: ParentReference,
  namespaceOf: (name: string) => Namespace | undefined,
): readonly Attachment[] | Refusal {
  const named = gateway.spec.listeners.filter(
    (listener) =>
      (reference.sectionName === undefined || reference.sectionName === listener.name) &&
      (reference.port === undefined || reference.port === listener.port) &&
      isServed(listener),
  );
  const { name } = gateway.metadata;
  if (named.length === 0) {
    return { reason: 'NoMatchingParent', message: `Gateway ${name} has no TLS passthrough listener the route names` };
  }
  const open = named.filter((listener) => isAllowed(gateway, listener, route, namespaceOf));
  if (open.length === 0) {
    const message = `no listener of Gateway ${name} takes TLSRoutes of namespace ${route.metadata.namespace}`;
    return { reason: 'NotAllowedByListeners', message };
  }
  const attachments: Attachment[] = [];
  for (const listener of open) {
    const desired = route.spec.hostnames ?? [];
    const hosts =
      desired.length === 0
        ? [listener.hostname ?? '*']
        : desired.flatMap((host) => intersection(listener.hostname, host) ?? []);
    if (hosts.length > 0) attachments.push({ listener, hosts });
  }
  if (attachments.length > 0) return attachments;
  const hosts = open.map(({ hostname }) => hostname ?? '*').join(', ');
  const message = `the listeners of Gateway ${name} are for ${hosts}, none of which the hostnames of the route are`;
  return { reason: 'NoMatchingListenerHostname', message };
}

function isAllowed(
  gateway: Gateway,
  { allowedRoutes }: GatewayListener,
  route: TLSRoute,
  namespaceOf: (name: string) => Namespace | undefined,
): boolean {
  const kinds = allowedRoutes?.kinds ?? [];
  const isKind = kinds.some(({ group, kind }) => kind === 'TLSRoute' && (group ?? gatewayGroup) === gatewayGroup);
  if (kinds.length > 0 && !isKind) return false;
  const { from = 'Same', selector } = allowedRoutes?.namespaces ?? {};
  const namespace = route.metadata.namespace ?? '';
  if (from === 'All') return true;
  if (from === 'Same') return namespace === gateway.metadata.namespace;
  return labelSelectorFromObject(selector).matches(namespaceOf(namespace)?.metadata.labels ?? {});
}
