// What the spec of a cluster asks for, where that is not a matter of reading one field.
import type { ApiEndpoint, OpenStackClusterSpec } from '../../../api/index.ts';

export function isLoadBalanced(spec: OpenStackClusterSpec): boolean {
  const balancer = spec.apiServer?.managedLoadBalancer;
  return balancer !== undefined && balancer.enabled !== false;
}

export function hasBastion(spec: OpenStackClusterSpec): boolean {
  return spec.bastion !== undefined && spec.bastion.enabled !== false;
}

/** Whether the cluster makes its own network. */
export function managesNetwork(spec: OpenStackClusterSpec): boolean {
  return (spec.managedSubnets?.length ?? 0) > 0;
}

/** Whether the API gets a floating IP. */
export function wantsFloatingIp(spec: OpenStackClusterSpec): boolean {
  return spec.apiServer?.enableFloatingIP !== false && spec.enableExternalNetwork !== false;
}

/** An endpoint with both its parts. */
export function isComplete(endpoint: ApiEndpoint | undefined): endpoint is { host: string; port: number } {
  return (endpoint?.host ?? '') !== '' && (endpoint?.port ?? 0) > 0;
}
