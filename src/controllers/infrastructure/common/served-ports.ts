import { type Cluster, controlPlaneGroup, type OpenStackClusterSpec, RKE2ControlPlanes } from '../../../api/index.ts';
import { supervisorPort } from '../../shared/index.ts';

export const defaultApiPort = 6443;

export function apiPortOf(spec: OpenStackClusterSpec): number {
  return spec.controlPlaneEndpoint?.port || spec.apiServer?.port || defaultApiPort;
}

/** Tells whether the control plane is rke2, whose machines also register at the supervisor port. */
export function isServedByRKE2(cluster: Cluster | undefined): boolean {
  const reference = cluster?.spec.controlPlaneRef;
  return reference?.kind === RKE2ControlPlanes.kind && reference.apiGroup === controlPlaneGroup;
}

/** Further ports of the API load balancer: the user's, and the rke2 supervisor port. */
function additionalPortsOf(spec: OpenStackClusterSpec, cluster: Cluster | undefined): number[] {
  const asked = spec.apiServer?.managedLoadBalancer?.additionalPorts ?? [];
  return [...new Set([...asked, ...(isServedByRKE2(cluster) ? [supervisorPort] : [])])];
}

/** Lists the API port and further ports without duplicates. */
export function servedPorts(spec: OpenStackClusterSpec, cluster: Cluster | undefined): number[] {
  return [...new Set([apiPortOf(spec), ...additionalPortsOf(spec, cluster)])];
}
