import type { ContractReference } from '../../../api/index.ts';
import { hostedControlPlaneKinds } from '../../shared/index.ts';
import { floatingIpAnnotation } from '../common/names.ts';
import { attempt, type Wait } from '../common/outcomes.ts';
import { apiPortOf } from '../common/served-ports.ts';
import { isComplete, isLoadBalanced, wantsFloatingIp } from './desired.ts';
import { reserveFloatingIp } from './floating-ip.ts';
import { reconcileLoadBalancer } from './load-balancer.ts';
import type { ClusterScope } from './scope.ts';

const reason = 'APIEndpointConfigFailed';

/** Determines the API endpoint: a load balancer, a floating IP, an internal address, or one set elsewhere. */
export async function reconcileEndpoint(scope: ClusterScope): Promise<Wait | undefined> {
  const { spec, status } = scope.draft;
  const hosted = hostedControlPlane(scope);
  if (isLoadBalanced(spec)) {
    // a new load balancer would have no members and might publish its address before the control plane's
    if (hosted && !status?.apiServerManagedLoadBalancer) {
      return {
        ms: 600_000,
        reason: 'EndpointConflict',
        message: `${hosted.kind} ${hosted.name} brings the endpoint of the API itself, and spec.apiServer.managedLoadBalancer asks for another one; set its field enabled to false`,
      };
    }
    const balanced = await reconcileLoadBalancer(scope);
    if ('wait' in balanced) return balanced.wait;
    publish(scope, balanced.host);
    return undefined;
  }
  if (isComplete(spec.controlPlaneEndpoint)) {
    await keepReserved(scope, spec.controlPlaneEndpoint.host);
    return undefined;
  }
  const host = await chooseHost(scope);
  if (host !== undefined) {
    publish(scope, host);
    return undefined;
  }
  if (hosted) {
    return {
      ms: 600_000,
      reason: 'WaitingForControlPlaneEndpoint',
      message: `waiting for the API address of ${hosted.kind} ${hosted.name}`,
    };
  }
  return {
    // the endpoint is set in an object, whose change triggers a reconcile
    ms: 600_000,
    reason: 'WaitingForControlPlaneEndpoint',
    message:
      'nothing says where the API will be reached: waiting for the control plane provider to set spec.controlPlaneEndpoint; or set spec.apiServer.fixedIP, or allow a floating IP or a load balancer',
  };
}

/** Returns the reference of the control plane if it runs in Pods elsewhere. */
function hostedControlPlane({ cluster }: ClusterScope): ContractReference | undefined {
  const reference = cluster?.spec.controlPlaneRef;
  return reference && hostedControlPlaneKinds.has(reference.kind) ? reference : undefined;
}

async function chooseHost(scope: ClusterScope): Promise<string | undefined> {
  const { spec } = scope.draft;
  // a hosted control plane brings its own endpoint; a floating IP here would lead nowhere
  const known = scope.cluster?.spec.controlPlaneEndpoint;
  if (isComplete(known)) return known.host;
  if ((spec.controlPlaneEndpoint?.host ?? '') !== '') return spec.controlPlaneEndpoint?.host;
  // an address in this cloud would lead nowhere, and a published endpoint cannot be corrected
  if (hostedControlPlane(scope)) return undefined;
  if (wantsFloatingIp(spec)) {
    const { address } = await attempt('no floating IP could be reserved for the API', reason, () =>
      reserveFloatingIp(scope, {
        role: 'api',
        field: 'spec.apiServer.floatingIP',
        address: spec.apiServer?.floatingIP || undefined,
      }),
    );
    return address;
  }
  return spec.apiServer?.fixedIP || undefined;
}

/** Keeps the published floating IP reserved, because kubeconfigs, certificates and Nodes use it. */
async function keepReserved(scope: ClusterScope, host: string): Promise<void> {
  if (scope.draft.metadata.annotations?.[floatingIpAnnotation('api')] === undefined) return;
  await attempt('the floating IP of the API could not be kept', reason, () =>
    reserveFloatingIp(scope, {
      role: 'api',
      field: 'spec.apiServer.floatingIP',
      address: scope.draft.spec.apiServer?.floatingIP || undefined,
      published: host,
    }),
  );
}

function publish({ draft, cluster }: ClusterScope, host: string): void {
  if (isComplete(draft.spec.controlPlaneEndpoint)) return;
  const given = cluster?.spec.controlPlaneEndpoint;
  const port = isComplete(given) && given.host === host ? given.port : apiPortOf(draft.spec);
  draft.spec.controlPlaneEndpoint = { host: draft.spec.controlPlaneEndpoint?.host || host, port };
}
