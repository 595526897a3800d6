import { type Cluster, controlPlaneGroup, type OpenStackClusterSpec, RKE2ControlPlanes } from '../../../api/index.ts';
import { supervisorPort } from '../../shared/index.ts';

export const defaultApiPort = 6443;

/** The port the API is served at. */
export function apiPortOf(spec: OpenStackClusterSpec): number {
  return spec.controlPlaneEndpoint?.port || spec.apiServer?.port || defaultApiPort;
}

/** Whether machines register with the servers of rke2, beside the API. */
export function isServedByRKE2(cluster: Cluster | undefined): boolean {
  const reference = cluster?.spec.controlPlaneRef;
  return reference?.kind === RKE2ControlPlanes.kind && reference.apiGroup === controlPlaneGroup;
}

/** What the load balancer of the API serves besides: what the user asks for, and where machines of rke2 register. */
function additionalPortsOf(spec: OpenStackClusterSpec, cluster: Cluster | undefined): number[] {
  const asked = spec.apiServer?.managedLoadBalancer?.additionalPorts ?? [];
  return [...new Set([...asked, ...(isServedByRKE2(cluster) ? [supervisorPort] : [])])];
}

/** The port of the API and the further ones, each once. */
export function servedPorts(spec: OpenStackClusterSpec, cluster: Cluster | undefined): number[] {
  return [...new Set([apiPortOf(spec), ...additionalPortsOf(spec, cluster)])];
}
