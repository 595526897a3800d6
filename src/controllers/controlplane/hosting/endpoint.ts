import type { Cluster, ContractReference } from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import type { Endpoint } from '../../../hosting/index.ts';
import { errorMessage, isConflict, isForbidden, isInvalid } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { Follower, Verdict } from '../../shared/index.ts';
import { endpointUrl, type ProviderObject, endpointOf as providerEndpoint, textAt } from '../../shared/index.ts';

/** Where a Cluster says its API is, once it does. */
export function recordedEndpoint(cluster: Cluster | undefined): Endpoint | undefined {
  const { host = '', port = 0 } = cluster?.spec.controlPlaneEndpoint ?? {};
  return host !== '' && port > 0 ? { host, port } : undefined;
}

export const sameEndpoint = (a: Endpoint, b: Endpoint): boolean => a.host === b.host && a.port === b.port;

export interface EndpointOutcome {
  verdict: Verdict;
  /** the infrastructure says the same as we do, or there is none to ask */
  isAgreed: boolean;
}

/**
 * Tells the infrastructure where the API is: once, while it does not know, and then looks whether the words were kept. From there
 * the Cluster takes it over. An infrastructure that has said something else already cannot be corrected by us, only the user can.
 */
export async function publishEndpoint(
  context: ReconcileContext,
  cluster: Cluster,
  follower: Follower,
  endpoint: Endpoint,
  fieldManager: string,
): Promise<EndpointOutcome> {
  const recorded = recordedEndpoint(cluster);
  if (recorded && !sameEndpoint(recorded, endpoint))
    return conflict(`Cluster ${cluster.metadata.name}`, recorded, endpoint);
  const reference = cluster.spec.infrastructureRef;
  if (!reference) return agreed;
  const { client, signal } = context;
  const namespace = cluster.metadata.namespace ?? '';
  const found = await follower.get(reference, namespace, { client, signal });
  if (!found) return waiting(`${nameOf(reference)} does not exist yet`);
  const said = providerEndpoint(found);
  if (said) return sameEndpoint(said, endpoint) ? agreed : conflict(nameOf(reference), said, endpoint);
  // some providers keep no endpoint of their own and take what the Cluster says
  const host = textAt(found.object, 'spec', 'controlPlaneEndpoint', 'host');
  if (host !== undefined && host !== endpoint.host) {
    return conflict(nameOf(reference), { host, port: endpoint.port }, endpoint);
  }
  return await write(context, follower, reference, found, endpoint, fieldManager);
}

const agreed: EndpointOutcome = { isAgreed: true, verdict: { status: 'True', reason: 'Published' } };

const nameOf = ({ kind, name }: ContractReference): string => `${kind} ${name}`;

async function write(
  context: ReconcileContext,
  follower: Follower,
  reference: ContractReference,
  { object }: ProviderObject,
  endpoint: Endpoint,
  fieldManager: string,
): Promise<EndpointOutcome> {
  const { client, signal } = context;
  const { resource, contract } = await follower.kindOf(reference, signal);
  const patch = { spec: { controlPlaneEndpoint: { host: endpoint.host, port: endpoint.port } } };
  try {
    const stored = await client.patch(resource, objectKey(object), 'merge', withOptimisticLock(patch, object), {
      fieldManager,
      signal,
    });
    const kept = providerEndpoint({ object: stored, contract });
    if (kept && sameEndpoint(kept, endpoint)) return agreed;
    return refused(reference, endpoint, 'the field was not kept: its kind may not have one');
  } catch (error) {
    if (isConflict(error)) return waiting(`${nameOf(reference)} is being changed by somebody else`);
    if (!isInvalid(error) && !isForbidden(error)) throw error;
    return refused(reference, endpoint, errorMessage(error));
  }
}

const waiting = (message: string): EndpointOutcome => ({
  isAgreed: false,
  verdict: { status: 'False', reason: 'WaitingForInfrastructure', message },
});

const refused = (reference: ContractReference, endpoint: Endpoint, why: string): EndpointOutcome => ({
  isAgreed: false,
  verdict: {
    status: 'False',
    reason: 'EndpointRefused',
    message: `${nameOf(reference)} does not take ${endpointUrl(endpoint)} as spec.controlPlaneEndpoint: ${why}; set it there yourself`,
  },
});

const conflict = (who: string, theirs: Endpoint, ours: Endpoint): EndpointOutcome => ({
  isAgreed: false,
  verdict: {
    status: 'False',
    reason: 'EndpointConflict',
    message: `${who} says that the API is at ${endpointUrl(theirs)}, the hosted control plane answers at ${endpointUrl(ours)}; an endpoint cannot be changed: make the cluster anew without a load balancer and floating IP for its API (spec.apiServer.enableFloatingIP: false)`,
  },
});
