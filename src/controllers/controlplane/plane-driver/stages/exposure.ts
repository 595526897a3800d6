import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { type Service, Services } from '../../../../api/index.ts';
import { type EndpointAnswer, loadBalancerHost, planeEndpoint, planeObjects } from '../../../../hosting/index.ts';
import type { KubeObject } from '../../../../machinery/index.ts';
import { type CoreEvent, CoreEvents } from '../../../../runtime/index.ts';
import { endpointUrl } from '../../../shared/index.ts';
import { applyObjects } from '../apply-objects.ts';
import { publishEndpoint } from '../endpoint.ts';
import { bad, good, type PlaneScope, requeueAfter, setStage } from '../scope.ts';
import { showAlias } from './alias.ts';
import { serviceFacts } from './observe.ts';

/** Time to wait for a load balancer before its absence is reported. */
const patienceMs = 30_000;
/** Clouds without load balancers report nothing; after this time their absence is assumed. */
const silenceMs = 5 * 60_000;

/** Applies the API Service and reads its address from the status. Never waits: a status change triggers a reconcile. */
export async function expose(scope: PlaneScope): Promise<undefined> {
  checkSpec(scope);
  const { exposure } = planeObjects(scope.desired, scope.facts);
  const stored = await applyObjects(scope.apply, exposure);
  const service = newest(scope, stored);
  if (service) scope.facts = { ...scope.facts, service: serviceFacts(service) };
  await showAlias(scope, service);
  const answer = ownEndpoint(scope);
  if (!answer.known) {
    const cause = await whyLate(scope, service);
    const reason = cause === '' ? answer.reason : 'LoadBalancerFailed';
    setStage(scope, 'exposure', bad(reason, `${answer.message}${cause}`));
    return;
  }
  scope.endpoint = answer.endpoint;
  scope.facts = { ...scope.facts, endpoint: answer.endpoint };
  const problem = movedAway(scope);
  setStage(scope, 'exposure', problem === undefined ? good('Exposed') : bad('AddressChanged', problem));
}

/** Validates a new spec before anything is created or changed, by rendering all its objects once. */
function checkSpec({ desired, facts, memory }: PlaneScope): void {
  const text = createHash('sha256').update(JSON.stringify(desired)).digest('base64');
  if (memory.checkedSpec === text) return;
  // the spread evaluates every lazily rendered phase
  void { ...planeObjects(desired, facts) };
  memory.checkedSpec = text;
}

/**
 * Determines the API endpoint. After Nodes have joined, the recorded endpoint is used. Before that it is used only if
 * it is a host name, which the user may have pointed here; a foreign IP address was written without knowledge of this
 * plane.
 */
function ownEndpoint({ desired, facts, request }: PlaneScope): EndpointAnswer {
  const { endpoint: recorded, ...seen } = facts;
  if (!recorded || request.isInitialized) return planeEndpoint(desired, facts);
  const own = planeEndpoint(desired, seen);
  return own.known && isIP(recorded.host) === 0 ? { known: true, endpoint: recorded } : own;
}

function newest({ request, desired }: PlaneScope, stored: readonly KubeObject[]): Service | undefined {
  const name = desired.naming.apiService;
  const cached = request.context.cache.lister(Services).get({ namespace: desired.identity.namespace, name });
  // a new Service has no address, neither in the cache nor in the response
  return (
    cached ?? (stored.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name) as Service | undefined)
  );
}

/**
 * Explains a missing load balancer, the most common reason for a stuck plane: after a while, reports why or where to
 * look.
 */
async function whyLate(scope: PlaneScope, service: Service | undefined): Promise<string> {
  const { exposure } = scope.desired;
  if (exposure.type !== 'LoadBalancer' || exposure.gateway || exposure.ingress || !service) return '';
  const since = Date.parse(service.metadata.creationTimestamp ?? '');
  const waited = scope.request.context.clock.now() - since;
  if (Number.isNaN(since)) return '';
  requeueAfter(scope, waited < patienceMs ? patienceMs - waited : patienceMs, 'no load balancer yet');
  if (waited < patienceMs) return '';
  const warning = await latestWarning(scope, service);
  if (warning !== undefined) return `: ${warning}`;
  if (waited < silenceMs) return '';
  const ofClass = service.spec.loadBalancerClass === undefined ? '' : ` of class ${service.spec.loadBalancerClass}`;
  return `; does the management cluster have an implementation of load balancers${ofClass}? Look at the events of the Service, or use another type of Service`;
}

/** Returns the latest Warning event of a Service, from the load balancer implementation. */
async function latestWarning({ request }: PlaneScope, { metadata }: Service): Promise<string | undefined> {
  const { client, signal } = request.context;
  const { namespace = '', name = '' } = metadata;
  const fieldSelector = `involvedObject.kind=Service,involvedObject.name=${name},type=Warning`;
  const { items } = await client.list(CoreEvents, { namespace, fieldSelector, signal });
  const timeOf = ({ lastTimestamp, eventTime }: CoreEvent): string => lastTimestamp ?? eventTime ?? '';
  const [latest] = items
    .filter(({ involvedObject }) => involvedObject.uid === undefined || involvedObject.uid === metadata.uid)
    .sort((one, other) => timeOf(other).localeCompare(timeOf(one)));
  return latest?.message;
}

/** Reports a Service whose address differs from the recorded endpoint, which Nodes and kubeconfigs use. */
function movedAway({ desired, facts, endpoint }: PlaneScope): string | undefined {
  const { exposure, naming } = desired;
  if (!facts.endpoint || !endpoint || exposure.type !== 'LoadBalancer') return undefined;
  if (exposure.ingress || exposure.gateway || (exposure.address ?? '') !== '') return undefined;
  const host = loadBalancerHost(facts);
  // the user's DNS decides where a host name leads
  if (host === undefined || host === facts.endpoint.host || isIP(facts.endpoint.host) === 0) return undefined;
  return `Service ${naming.apiService} is at ${host} now, and nodes and kubeconfigs know ${endpointUrl(facts.endpoint)}; give the load balancer its old address back`;
}

/** Publishes the endpoint to the infrastructure, and thereby to the Cluster. No node can join without it. */
export async function publish(scope: PlaneScope): Promise<'stop' | undefined> {
  const { endpoint, request, desired } = scope;
  if (!endpoint) return undefined;
  const { cluster, follower, context } = request;
  if (!cluster || !follower) {
    setStage(scope, 'endpoint', good('Published'));
    return undefined;
  }
  const outcome = await publishEndpoint(context, cluster, follower, endpoint, desired.naming.fieldManager);
  setStage(scope, 'endpoint', outcome.verdict);
  if (outcome.isAgreed || request.isInitialized) return undefined;
  // do not issue certificates and kubeconfigs for an endpoint that is in conflict
  return outcome.verdict.reason === 'WaitingForInfrastructure' ? undefined : 'stop';
}
