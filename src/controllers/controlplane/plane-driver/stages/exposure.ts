import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { type Service, Services } from '../../../../api/index.ts';
import { type EndpointAnswer, loadBalancerHost, planeEndpoint, planeObjects } from '../../../../hosting/index.ts';
import type { KubeObject } from '../../../../machinery/index.ts';
import { type CoreEvent, CoreEvents } from '../../../../runtime/index.ts';
import { endpointUrl } from '../../../shared/index.ts';
import { applyObjects } from '../apply-objects.ts';
import { publishEndpoint } from '../endpoint.ts';
import { bad, good, type PlaneScope, requeueAfter, tell } from '../scope.ts';
import { showAlias } from './alias.ts';
import { serviceFacts } from './observe.ts';

/** A load balancer comes within this time, or something is said of it. */
const patienceMs = 30_000;
/** A cloud that has no load balancers says so by silence. */
const silenceMs = 5 * 60_000;

/** Makes the Service in front of the API, and learns from its status where it is. Never waits: its status wakes us. */
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
    tell(scope, 'exposure', bad(reason, `${answer.message}${cause}`));
    return;
  }
  scope.endpoint = answer.endpoint;
  scope.facts = { ...scope.facts, endpoint: answer.endpoint };
  const problem = movedAway(scope);
  tell(scope, 'exposure', problem === undefined ? good('Exposed') : bad('AddressChanged', problem));
}

/** What cannot be said of a plane is found before anything of it is made or changed: all phases of a new spec are computed once. */
function checkSpec({ desired, facts, memory }: PlaneScope): void {
  const text = createHash('sha256').update(JSON.stringify(desired)).digest('base64');
  if (memory.checkedSpec === text) return;
  // spread: a phase is computed when it is asked for
  void { ...planeObjects(desired, facts) };
  memory.checkedSpec = text;
}

/**
 * Where the API is. Once nodes have joined, what was written down counts. Before that it counts only when it is a name, which a
 * user may have made to lead here; an address that is not ours was written by somebody who does not know of this plane.
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
  // a Service that was just made has no address in the cache yet, and none in the answer either
  return (
    cached ?? (stored.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name) as Service | undefined)
  );
}

/** A load balancer that does not come is the commonest reason why nothing happens: after a while say why, or what to look at. */
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

/** What the implementation of load balancers says of a Service, in its own words. */
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

/** Nodes and kubeconfigs know the address that was written down; a Service that shows another one leads them nowhere. */
function movedAway({ desired, facts, endpoint }: PlaneScope): string | undefined {
  const { exposure, naming } = desired;
  if (!facts.endpoint || !endpoint || exposure.type !== 'LoadBalancer') return undefined;
  if (exposure.ingress || exposure.gateway || (exposure.address ?? '') !== '') return undefined;
  const host = loadBalancerHost(facts);
  // a name is the user's to lead somewhere
  if (host === undefined || host === facts.endpoint.host || isIP(facts.endpoint.host) === 0) return undefined;
  return `Service ${naming.apiService} is at ${host} now, and nodes and kubeconfigs know ${endpointUrl(facts.endpoint)}; give the load balancer its old address back`;
}

/** Tells the infrastructure and so the Cluster where the API is. Without that no node can join. */
export async function publish(scope: PlaneScope): Promise<'stop' | undefined> {
  const { endpoint, request, desired } = scope;
  if (!endpoint) return undefined;
  const { cluster, follower, context } = request;
  if (!cluster || !follower) {
    tell(scope, 'endpoint', good('Published'));
    return undefined;
  }
  const outcome = await publishEndpoint(context, cluster, follower, endpoint, desired.naming.fieldManager);
  tell(scope, 'endpoint', outcome.verdict);
  if (outcome.isAgreed || request.isInitialized) return undefined;
  // certificates and kubeconfigs for a place nobody will look at would have to be taken back
  return outcome.verdict.reason === 'WaitingForInfrastructure' ? undefined : 'stop';
}
