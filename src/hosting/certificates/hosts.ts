import { gatewayHost, konnectivityEndpoint, loadBalancerHost, planeEndpoint, serviceNames } from '../endpoint.ts';
import { maxEtcdMembers, memberName } from '../etcd/members.ts';
import type { PlaneFacts } from '../facts.ts';
import { kubernetesAddresses } from '../network.ts';
import type { EtcdClusterSpec, PlaneSpec } from '../spec.ts';

/** Sorts and deduplicates hosts, so that the same spec yields the same certificate. */
export const uniqueHosts = (hosts: readonly (string | undefined)[]): string[] =>
  [...new Set(hosts.filter((host) => host !== undefined && host !== ''))].sort() as string[];

/** Names and addresses in the API server's certificate. */
export function apiServerHosts(desired: PlaneSpec, facts: PlaneFacts): string[] {
  const { exposure, network } = desired;
  const answer = planeEndpoint(desired, facts);
  const gateway = exposure.gateway === undefined ? undefined : gatewayHost(desired, facts);
  return uniqueHosts([
    'localhost',
    '127.0.0.1',
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${network.domain}`,
    ...kubernetesAddresses(network),
    ...serviceNames(desired),
    ...(facts.service?.clusterIPs ?? []).filter((address) => address !== 'None'),
    loadBalancerHost(facts),
    answer.known ? answer.endpoint.host : undefined,
    exposure.address,
    exposure.advertiseAddress,
    exposure.ingress?.host.split(':')[0],
    gateway?.split(':')[0],
    // the konnectivity server uses the same certificate under its own host name
    desired.konnectivity === undefined ? undefined : konnectivityEndpoint(desired, facts)?.host,
    ...exposure.sans,
  ]);
}

/** Names in etcd certificates, including future members, so that scaling up needs no new certificates. */
export function etcdHosts(desired: EtcdClusterSpec): string[] {
  const { naming, identity } = desired;
  const services = [naming.etcdService, naming.etcdClientService].flatMap((service) => [
    service,
    `${service}.${identity.namespace}.svc`,
    `${service}.${identity.namespace}.svc.cluster.local`,
  ]);
  const headless = services.slice(0, 3);
  const members = Array.from({ length: maxEtcdMembers }, (_, index) => memberName(naming, index));
  return uniqueHosts([
    'localhost',
    '127.0.0.1',
    ...services,
    ...headless.map((service) => `*.${service}`),
    ...members.flatMap((member) => [member, ...headless.map((service) => `${member}.${service}`)]),
  ]);
}

/** Names in the certificate of the node proxies for an API behind an Ingress. */
export function ingressProxyHosts(desired: PlaneSpec): string[] {
  const { domain } = desired.network;
  return uniqueHosts([
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster',
    `kubernetes.default.svc.${domain}`,
    `kubernetes.svc.${domain}`,
    'localhost',
    '127.0.0.1',
    ...kubernetesAddresses(desired.network),
  ]);
}
