import {
  type LabelSelector,
  Namespaces,
  Nodes,
  PersistentVolumeClaims,
  type Service,
  Services,
} from '../../../../api/index.ts';
import type { ObjectKey } from '../../../../client/index.ts';
import type { GatewayFacts, PlaneFacts, PlaneSpec, ServiceFacts } from '../../../../hosting/index.ts';
import {
  asJson,
  isJsonObject,
  isNotFound,
  labelSelectorFromObject,
  type Resource,
  type UnstructuredObject,
} from '../../../../machinery/index.ts';
import { isNotConnected } from '../../../shared/index.ts';
import { recordedEndpoint } from '../endpoint.ts';
import { seeEtcd } from '../etcd/observe.ts';
import { type PlaneScope, requeueAfter } from '../scope.ts';
import { runningVersionOf, seeControlPlane } from '../workload-sets.ts';

/** Gateways are not watched: an unusable one is polled often, a usable one rarely. */
const gatewayRetryMs = 5_000;
const gatewayCalmMs = 10 * 60_000;

/** Observes a plane before any change. */
export async function observePlane(scope: PlaneScope): Promise<undefined> {
  const { desired, request } = scope;
  const { cache } = request.context;
  const { namespace } = desired.identity;
  const service = cache.lister(Services).get({ namespace, name: desired.naming.apiService });
  const endpoint = recordedEndpoint(request.cluster);
  scope.controlPlane = seeControlPlane(cache, desired);
  const runningVersion = scope.controlPlane && runningVersionOf(desired, scope.controlPlane);
  const etcd = desired.dataStore.kind === 'own-etcd' ? seeEtcd(cache, desired).facts : undefined;
  const gateway = desired.exposure.gateway ? await seeGateway(scope) : undefined;
  const nodeAddress = needsNodeAddress(desired) ? await seeNodeAddress(scope) : undefined;
  const workload = seeWorkload(scope);
  const controllerClaim = seeControllerClaim(scope);
  scope.facts = {
    checksums: new Map(),
    trust: {},
    ...(service && { service: serviceFacts(service) }),
    ...(endpoint && { endpoint }),
    ...(runningVersion !== undefined && { runningVersion }),
    ...(etcd && { etcd }),
    ...(gateway && { gateway }),
    ...(nodeAddress !== undefined && { nodeAddress }),
    ...(workload && { workload }),
    ...(controllerClaim !== undefined && { controllerClaim }),
  };
}

/** Name of the claim template of k0s controllers: the user's, unless there are claims under the usual name. */
function seeControllerClaim({ desired, request }: PlaneScope): string | undefined {
  const persistence = desired.k0s?.persistence;
  if (persistence?.type !== 'pvc') return undefined;
  const { controlPlane } = desired.naming;
  const given = asJson(persistence.claim)['metadata'];
  const name = isJsonObject(given) && typeof given['name'] === 'string' ? given['name'] : '';
  if (name === '' || name === controlPlane) return undefined;
  const key = { namespace: desired.identity.namespace, name: `${controlPlane}-${controlPlane}-0` };
  return request.context.cache.lister(PersistentVolumeClaims).get(key) ? undefined : name;
}

export function serviceFacts({ spec, status }: Service): ServiceFacts {
  const nodePorts: Record<string, number> = {};
  for (const { name, nodePort } of spec?.ports ?? []) if (nodePort) nodePorts[name ?? ''] = nodePort;
  return {
    ...(spec?.type !== undefined && { type: spec.type }),
    clusterIPs: spec?.clusterIPs ?? (spec?.clusterIP ? [spec.clusterIP] : []),
    ingress: status?.loadBalancer?.ingress ?? [],
    nodePorts,
  };
}

const needsNodeAddress = ({ exposure }: PlaneSpec): boolean =>
  exposure.type === 'NodePort' && (exposure.address ?? '') === '' && !exposure.ingress && !exposure.gateway;

/**
 * Returns the address of a hosting cluster node, an external one if possible. Memoized, because node addresses rarely
 * change.
 */
async function seeNodeAddress(scope: PlaneScope): Promise<string | undefined> {
  const { memory, request } = scope;
  const { client, clock, signal } = request.context;
  if (memory.nodeAddress && clock.now() - memory.nodeAddress.at < gatewayCalmMs) return memory.nodeAddress.address;
  const { items } = await client.list(Nodes, { limit: 50, signal });
  const addresses = items.flatMap(({ status }) => status?.addresses ?? []);
  const address = ['ExternalDNS', 'ExternalIP', 'InternalIP']
    .map((type) => addresses.find((one) => one.type === type)?.address)
    .find((found) => found !== undefined);
  if (address !== undefined) memory.nodeAddress = { address, at: clock.now() };
  else requeueAfter(scope, gatewayRetryMs, 'no node has an address yet');
  return address;
}

const gateways: Resource<UnstructuredObject> = {
  group: 'gateway.networking.k8s.io',
  version: 'v1',
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
};

async function seeGateway(scope: PlaneScope): Promise<GatewayFacts | undefined> {
  const { desired, memory, request } = scope;
  const { client, clock, signal } = request.context;
  const wanted = desired.exposure.gateway;
  if (!wanted) return undefined;
  if (memory.gateway && clock.now() - memory.gateway.at < gatewayCalmMs) return memory.gateway.facts;
  const key = { namespace: wanted.namespace, name: wanted.name };
  try {
    const gateway = await openTo(scope, await client.get(gateways, key, { signal }));
    const facts = gateway ? gatewayFacts(gateway, wanted) : unusable(scope, key);
    if (facts.problem === undefined) memory.gateway = { facts, at: clock.now() };
    else requeueAfter(scope, gatewayRetryMs, 'the Gateway is not usable yet');
    return facts;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    requeueAfter(scope, gatewayRetryMs, 'there is no Gateway yet');
    return unusable(scope, key);
  }
}

/**
 * Reports an unusable Gateway. A foreign Gateway without permission looks like a missing one, so that its existence is
 * not revealed.
 */
function unusable({ desired }: PlaneScope, { namespace, name }: Required<ObjectKey>): GatewayFacts {
  const own = desired.identity.namespace;
  const problem =
    namespace === own
      ? `Gateway ${namespace}/${name} does not exist`
      : `Gateway ${namespace}/${name} does not exist, or allowedRoutes of its listeners do not let namespace ${own} use it`;
  return { addresses: [], problem };
}

/** Returns the Gateway reduced to listeners that allow routes of the plane's namespace; undefined if there are none. */
async function openTo(
  { desired, request }: PlaneScope,
  gateway: UnstructuredObject,
): Promise<UnstructuredObject | undefined> {
  const own = desired.identity.namespace;
  if (gateway.metadata.namespace === own) return gateway;
  const { client, signal } = request.context;
  const spec = isJsonObject(gateway['spec']) ? gateway['spec'] : {};
  const listeners = (Array.isArray(spec['listeners']) ? spec['listeners'] : []) as Listener[];
  const needsLabels = listeners.some(({ allowedRoutes }) => allowedRoutes?.namespaces?.from === 'Selector');
  const labels = needsLabels ? (await client.get(Namespaces, { name: own }, { signal })).metadata.labels : undefined;
  const open = listeners.filter(({ allowedRoutes }) => {
    const { from = 'Same', selector } = allowedRoutes?.namespaces ?? {};
    return from === 'All' || (from === 'Selector' && labelSelectorFromObject(selector ?? {}).matches(labels ?? {}));
  });
  return open.length === 0 ? undefined : { ...gateway, spec: { ...spec, listeners: asJson(open) } };
}

interface Listener {
  name?: string;
  hostname?: string;
  port?: number;
  protocol?: string;
  tls?: { mode?: string };
  allowedRoutes?: { namespaces?: { from?: string; selector?: LabelSelector } };
}

/** Finds a listener with TLS passthrough and a wildcard domain, below which host names are chosen. */
export function gatewayFacts(
  gateway: UnstructuredObject,
  wanted: NonNullable<PlaneSpec['exposure']['gateway']>,
): GatewayFacts {
  const spec = isJsonObject(gateway['spec']) ? gateway['spec'] : {};
  const status = isJsonObject(gateway['status']) ? gateway['status'] : {};
  const listeners = (Array.isArray(spec['listeners']) ? spec['listeners'] : []) as Listener[];
  const addresses = (Array.isArray(status['addresses']) ? status['addresses'] : [])
    .map((entry) => (isJsonObject(entry) && typeof entry['value'] === 'string' ? entry['value'] : ''))
    .filter((address) => address !== '');
  const who = `Gateway ${wanted.namespace}/${wanted.name}`;
  const passing = listeners.filter(
    ({ name, protocol, tls, port }) =>
      protocol === 'TLS' &&
      tls?.mode === 'Passthrough' &&
      (wanted.sectionName === undefined || name === wanted.sectionName) &&
      (wanted.port === undefined || port === wanted.port),
  );
  const listener =
    wanted.hostname === undefined
      ? passing.find(({ hostname }) => hostname?.startsWith('*.') === true)
      : passing.find(({ hostname }) => hostname === undefined || covers(hostname, wanted.hostname ?? ''));
  if (!listener) {
    const what = wanted.hostname === undefined ? 'a wildcard host name' : `a host name that covers ${wanted.hostname}`;
    return { addresses, problem: `${who} has no listener with protocol TLS, mode Passthrough and ${what}; add one` };
  }
  return {
    addresses,
    ...(listener.hostname?.startsWith('*.') && { domain: listener.hostname.slice(2) }),
    ...(listener.name !== undefined && { listener: listener.name }),
    ...(listener.port !== undefined && { port: listener.port }),
  };
}

function covers(pattern: string, host: string): boolean {
  const name = host.split(':')[0] ?? '';
  return pattern === name || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)));
}

function seeWorkload({ request, dependencies }: PlaneScope): PlaneFacts['workload'] {
  const { cluster } = request;
  if (!cluster) return undefined;
  const { name = '', namespace = '' } = cluster.metadata;
  try {
    const nodes = dependencies.workloads.nodes({ namespace, name }).list();
    const versions = nodes.map(({ status }) => status?.nodeInfo?.kubeletVersion ?? '').filter((text) => text !== '');
    return { nodes: nodes.length, kubeletVersions: versions };
  } catch (error) {
    if (!isNotConnected(error)) throw error;
    return undefined;
  }
}
