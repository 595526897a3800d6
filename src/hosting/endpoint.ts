import type { PlaneFacts } from './facts.ts';
import type { EndpointAnswer, EndpointProblem } from './result.ts';
import type { PlaneSpec } from './spec.ts';

const gatewayPort = 443;

/** Returns the API endpoint. A recorded endpoint never changes. */
export function planeEndpoint(desired: PlaneSpec, facts: PlaneFacts): EndpointAnswer {
  if (facts.endpoint) return { known: true, endpoint: facts.endpoint };
  const { exposure } = desired;
  const at = (host: string, port: number): EndpointAnswer => ({ known: true, endpoint: { host, port } });
  if (exposure.ingress) return at(...splitHostPort(exposure.ingress.host, exposure.ingress.port));
  if (exposure.gateway) return gatewayEndpoint(desired, facts);
  const { apiPort, address } = exposure;
  if (address !== undefined && address !== '') return at(address, apiPort);
  switch (exposure.type) {
    case 'LoadBalancer': {
      const host = loadBalancerHost(facts);
      return host === undefined
        ? waiting('WaitingForLoadBalancer', `Service ${desired.naming.apiService} has no load balancer address yet`)
        : at(host, apiPort);
    }
    case 'NodePort':
      return facts.nodeAddress === undefined
        ? waiting('NodeAddressMissing', 'no node of the hosting cluster has an address; set the external address')
        : at(facts.nodeAddress, apiPort);
    default:
      return clusterIpEndpoint(desired, facts);
  }
}

/** With a ClusterIP, k0smotron users specify the address; Kamaji uses that of the Service. */
function clusterIpEndpoint(desired: PlaneSpec, facts: PlaneFacts): EndpointAnswer {
  if (desired.layout === 'k0s') {
    return waiting('AddressMissing', 'a Service of type ClusterIP needs the external address of the plane to be set');
  }
  const host = facts.service?.clusterIPs[0];
  return host === undefined
    ? waiting('WaitingForService', `Service ${desired.naming.apiService} has no address yet`)
    : { known: true, endpoint: { host, port: desired.exposure.apiPort } };
}

function gatewayEndpoint(desired: PlaneSpec, facts: PlaneFacts): EndpointAnswer {
  const { gateway } = desired.exposure;
  if (!gateway) throw new TypeError('the spec has no gateway');
  if (facts.gateway?.problem !== undefined) return waiting('GatewayNotUsable', facts.gateway.problem);
  const host = gatewayHost(desired, facts);
  if (host === undefined) {
    return waiting(
      'WaitingForGateway',
      `Gateway ${gateway.namespace}/${gateway.name} has no listener for the plane yet`,
    );
  }
  const [name, port] = splitHostPort(host, gateway.externalPort ?? facts.gateway?.port ?? gatewayPort);
  return { known: true, endpoint: { host: name, port } };
}

/** Host of the API behind a Gateway. */
export function gatewayHost(desired: PlaneSpec, facts: PlaneFacts): string | undefined {
  const { gateway } = desired.exposure;
  if (gateway?.hostname !== undefined) return gateway.hostname;
  const domain = facts.gateway?.domain;
  return domain === undefined ? undefined : `${desired.identity.clusterName}.${desired.identity.namespace}.${domain}`;
}

/** Host that konnectivity agents connect to. */
export function konnectivityEndpoint(
  desired: PlaneSpec,
  facts: PlaneFacts,
): { host: string; port: number } | undefined {
  const answer = planeEndpoint(desired, facts);
  if (!answer.known) return undefined;
  const { ingress, gateway, konnectivityPort } = desired.exposure;
  const { host, port } = answer.endpoint;
  if (ingress) return { host: ingress.konnectivityHost ?? host, port: ingress.port };
  // one host name per route: a TLS passthrough Gateway routes by server name
  if (gateway) return { host: desired.layout === 'hardened' ? `konnectivity.${host}` : host, port };
  return konnectivityPort === undefined ? undefined : { host, port: konnectivityPort };
}

/** Prefers an IP address to a host name. */
export function loadBalancerHost(facts: PlaneFacts): string | undefined {
  const entries = facts.service?.ingress ?? [];
  for (const { ip } of entries) if (ip !== undefined && ip !== '') return ip;
  for (const { hostname } of entries) if (hostname !== undefined && hostname !== '') return hostname;
  return undefined;
}

/**
 * DNS names of the API Services in the management cluster, shortest first: the actual one, and the alias from guides.
 */
export function serviceNames({ naming, identity, exposure }: PlaneSpec): string[] {
  const { namespace } = identity;
  const services = new Set([naming.apiService, exposure.aliasServiceName ?? naming.apiService]);
  return [...services].flatMap((service) => [
    service,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.cluster.local`,
  ]);
}

/** https:// URL of the API inside the management cluster. */
export function internalServer(desired: PlaneSpec): string {
  const port = desired.exposure.legacyApiPort ?? desired.exposure.apiPort;
  return `https://${desired.naming.apiService}.${desired.identity.namespace}.svc:${port}`;
}

/** Builds an https:// URL; IPv6 hosts in brackets. */
export function serverUrl({ host, port }: { host: string; port: number }): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function splitHostPort(text: string, port: number): [host: string, port: number] {
  const [, host, given] = /^([^:]+):(\d+)$/.exec(text) ?? [];
  return host === undefined ? [text, port] : [host, Number(given)];
}

function waiting(reason: EndpointProblem, message: string): EndpointAnswer {
  return { known: false, reason, message };
}
