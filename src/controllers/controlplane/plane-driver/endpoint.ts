import { isIP } from 'node:net';
import type { Cluster, ContractReference } from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import type { Endpoint } from '../../../hosting/index.ts';
import {
  errorMessage,
  isConflict,
  isForbidden,
  isInvalid,
  type JsonObject,
  type JsonValue,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import type { Follower, Verdict } from '../../shared/index.ts';
import { at, endpointUrl, type ProviderObject, endpointOf as providerEndpoint, textAt } from '../../shared/index.ts';

export function recordedEndpoint(cluster: Cluster | undefined): Endpoint | undefined {
  const { host = '', port = 0 } = cluster?.spec.controlPlaneEndpoint ?? {};
  return host !== '' && port > 0 ? { host, port } : undefined;
}

export const sameEndpoint = (a: Endpoint, b: Endpoint): boolean => a.host === b.host && a.port === b.port;

export interface EndpointOutcome {
  verdict: Verdict;
  /** the infrastructure has the same endpoint, or there is none */
  isAgreed: boolean;
}

/**
 * Writes the endpoint to the infrastructure object once, from where the Cluster copies it, and verifies that it was
 * kept. A different endpoint there is not overwritten; only the user can resolve that.
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
  // some providers have no endpoint field and use that of the Cluster
  const host = textAt(found.object, 'spec', 'controlPlaneEndpoint', 'host');
  if (host !== undefined && host !== endpoint.host) {
    return conflict(nameOf(reference), { host, port: endpoint.port }, endpoint);
  }
  return await write(context, follower, { reference, provider: found, endpoint, fieldManager });
}

const agreed: EndpointOutcome = { isAgreed: true, verdict: { status: 'True', reason: 'Published' } };

const nameOf = ({ kind, name }: ContractReference): string => `${kind} ${name}`;

interface EndpointWrite {
  readonly reference: ContractReference;
  readonly provider: ProviderObject;
  readonly endpoint: Endpoint;
  readonly fieldManager: string;
}

async function write(
  context: ReconcileContext,
  follower: Follower,
  { reference, provider: { object }, endpoint, fieldManager }: EndpointWrite,
): Promise<EndpointOutcome> {
  const { client, signal } = context;
  const { resource, contract } = await follower.kindOf(reference, signal);
  const { host, port } = endpoint;
  const patch = { spec: { controlPlaneEndpoint: { host, port }, ...addressLeftOpen(object, host) } };
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

/**
 * An OpenStackCluster with an empty fixed IP and no floating IP expects the address of a hosted control plane there.
 */
export function addressLeftOpen(object: UnstructuredObject, host: string): JsonObject {
  if (isIP(host) === 0) return {};
  const says = (value: JsonValue, ...path: string[]): boolean => at(object, 'spec', ...path) === value;
  if (says('', 'apiServer', 'fixedIP') && says(false, 'apiServer', 'enableFloatingIP')) {
    return { apiServer: { fixedIP: host } };
  }
  // field names of API versions before v1beta1
  const isOpen = says('', 'apiServerFixedIP') && says(true, 'disableAPIServerFloatingIP');
  return isOpen ? { apiServerFixedIP: host } : {};
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
    message: `${who} says that the API is at ${endpointUrl(theirs)}, the hosted control plane answers at ${endpointUrl(ours)}; an endpoint cannot be changed: create the cluster again without a load balancer and floating IP for its API (spec.apiServer.enableFloatingIP: false)`,
  },
});
