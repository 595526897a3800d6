// Values derived from the spec of a cluster.
import type { ApiEndpoint, OpenStackClusterSpec } from '../../../api/index.ts';

export function isLoadBalanced(spec: OpenStackClusterSpec): boolean {
  const balancer = spec.apiServer?.managedLoadBalancer;
  return balancer !== undefined && balancer.enabled !== false;
}

export function hasBastion(spec: OpenStackClusterSpec): boolean {
  return spec.bastion !== undefined && spec.bastion.enabled !== false;
}

/** Tells whether the cluster creates its own network. */
export function managesNetwork(spec: OpenStackClusterSpec): boolean {
  return (spec.managedSubnets?.length ?? 0) > 0;
}

export function wantsFloatingIp(spec: OpenStackClusterSpec): boolean {
  return spec.apiServer?.enableFloatingIP !== false && spec.enableExternalNetwork !== false;
}

export function isComplete(endpoint: ApiEndpoint | undefined): endpoint is { host: string; port: number } {
  return (endpoint?.host ?? '') !== '' && (endpoint?.port ?? 0) > 0;
}
