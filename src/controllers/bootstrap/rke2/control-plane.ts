import { RKE2ControlPlanes } from '../../../api/index.ts';
import { asTyped } from '../../../machinery/index.ts';
import { endpointUrl, supervisorPort } from '../../shared/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import type { RKE2ConfigScope, ServingPlane } from './scope.ts';

/** Finds the control plane whose servers the machine is or joins; undefined while there is none. */
export async function servingPlane({ cluster, context, follower }: RKE2ConfigScope): Promise<ServingPlane | undefined> {
  const reference = cluster.spec.controlPlaneRef;
  if (reference?.kind !== RKE2ControlPlanes.kind || reference.apiGroup !== RKE2ControlPlanes.group) {
    throw new BootstrapInputError(
      `Cluster ${cluster.metadata.name} has ${reference ? `a ${reference.kind}` : 'no control plane'}; machines of rke2 need an RKE2ControlPlane`,
    );
  }
  const { client, signal } = context;
  const found = await follower.get(reference, cluster.metadata.namespace ?? '', { client, signal });
  return found && asTyped<ServingPlane>(found.object);
}

/** Returns the registration address of the servers; undefined while no server is known. */
export function joinAddress({ cluster }: RKE2ConfigScope, { spec, status }: ServingPlane): string | undefined {
  const host =
    (spec.registrationMethod || 'control-plane-endpoint') === 'control-plane-endpoint'
      ? cluster.spec.controlPlaneEndpoint?.host
      : spec.registrationMethod === 'address'
        ? spec.registrationAddress
        : status?.availableServerIPs?.[0];
  return host ? endpointUrl({ host, port: supervisorPort }) : undefined;
}
