import { type Service, Services } from '../../../../api/index.ts';
import { loadBalancerHost, planeEndpoint, planeObjects } from '../../../../hosting/index.ts';
import type { KubeObject } from '../../../../machinery/index.ts';
import { endpointUrl } from '../../../shared/index.ts';
import { applyObjects } from '../apply-objects.ts';
import { publishEndpoint, sameEndpoint } from '../endpoint.ts';
import { bad, good, lookAgain, type PlaneScope, tell } from '../scope.ts';
import { showAlias } from './alias.ts';
import { serviceFacts } from './observe.ts';

/** A cloud that has no load balancers says so by silence. */
const patienceMs = 5 * 60_000;

/** Makes the Service in front of the API, and learns from its status where it is. Never waits: its status wakes us. */
export async function expose(scope: PlaneScope): Promise<undefined> {
  const { wish } = scope;
  const stored = await applyObjects(scope.apply, planeObjects(wish, scope.facts).exposure);
  const service = newest(scope, stored);
  if (service) scope.facts = { ...scope.facts, service: serviceFacts(service) };
  await showAlias(scope, service);
  const answer = planeEndpoint(wish, scope.facts);
  if (!answer.known) {
    tell(scope, 'exposure', bad(answer.reason, `${answer.message}${await whyLate(scope, service)}`));
    return;
  }
  scope.endpoint = answer.endpoint;
  const problem = movedAway(scope);
  tell(scope, 'exposure', problem === undefined ? good('Exposed') : bad('AddressChanged', problem));
}

function newest({ request, wish }: PlaneScope, stored: readonly KubeObject[]): Service | undefined {
  const name = wish.naming.apiService;
  const cached = request.context.cache.lister(Services).get({ namespace: wish.identity.namespace, name });
  // a Service that was just made has no address in the cache yet, and none in the answer either
  return (
    cached ?? (stored.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name) as Service | undefined)
  );
}

/** A load balancer that does not come is the commonest reason why nothing happens: after a while say what to look at. */
async function whyLate(scope: PlaneScope, service: Service | undefined): Promise<string> {
  const { exposure } = scope.wish;
  if (exposure.type !== 'LoadBalancer' || !service) return '';
  const since = Date.parse(service.metadata.creationTimestamp ?? '');
  const waited = scope.request.context.clock.now() - since;
  if (Number.isNaN(since)) return '';
  if (waited < patienceMs) {
    lookAgain(scope, patienceMs - waited, 'no load balancer yet');
    return '';
  }
  return '; does the management cluster have an implementation of load balancers? Look at the events of the Service, or use another type of Service';
}

/** Nodes and kubeconfigs know the address that was written down; a Service that shows another one leads them nowhere. */
function movedAway({ wish, facts, endpoint }: PlaneScope): string | undefined {
  const { exposure, naming } = wish;
  if (!facts.endpoint || !endpoint || exposure.type !== 'LoadBalancer') return undefined;
  if (exposure.ingress || exposure.gateway || (exposure.address ?? '') !== '') return undefined;
  const host = loadBalancerHost(facts);
  if (host === undefined || host === facts.endpoint.host) return undefined;
  return `Service ${naming.apiService} is at ${host} now, and nodes and kubeconfigs know ${endpointUrl(facts.endpoint)}; give the load balancer its old address back`;
}

/** Tells the infrastructure and so the Cluster where the API is. Without that no node can join. */
export async function publish(scope: PlaneScope): Promise<'stop' | undefined> {
  const { endpoint, request, wish } = scope;
  if (!endpoint) return undefined;
  const { cluster, follower, context } = request;
  if (!cluster || !follower) {
    tell(scope, 'endpoint', good('Published'));
    return undefined;
  }
  const { facts } = scope;
  // what is observed now, whatever was written down: a conflict must be seen
  const { endpoint: _, ...fresh } = facts;
  const own = planeEndpoint(wish, fresh);
  const ours = own.known && !request.isInitialized ? own.endpoint : endpoint;
  const outcome = await publishEndpoint(context, cluster, follower, ours, wish.naming.fieldManager);
  tell(scope, 'endpoint', outcome.verdict);
  if (outcome.isAgreed) return undefined;
  return request.isInitialized || sameEndpoint(ours, endpoint) ? undefined : 'stop';
}
