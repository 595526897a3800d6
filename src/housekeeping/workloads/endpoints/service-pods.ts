import { type Pod, type Service, type ServicePort, Services } from '../../../api/index.ts';
import { type InformerFactory, type Lister, type ObjectKey, objectKey } from '../../../client/index.ts';
import { deepEqual, ipFamily, must } from '../../../machinery/index.ts';
import type { ObjectEvent } from '../../../runtime/index.ts';
import { podsWithLabels } from '../common/pod-index.ts';
import { isFinished, isPodReady, isTerminating } from '../common/pods.ts';
import { indexBySelector, selecting } from '../common/selector-index.ts';

// Shared by Endpoints and EndpointSlices: the Pods of a Service and their ports.

const headlessLabel = 'service.kubernetes.io/headless';

/** Indexes Services by selector, so that they can be found by the labels of a Pod. */
export function indexServices(cache: InformerFactory): Lister<Service> {
  return indexBySelector(cache.informer(Services), ({ spec }) => (hasPods(spec) ? spec.selector : undefined));
}

/** Finds the Services that select a Pod. */
export function servicesOf(services: Lister<Service> | undefined, { metadata }: Pod): ObjectKey[] {
  const { namespace, labels } = metadata;
  if (!services || namespace === undefined) return [];
  return selecting(services, namespace, labels).map(objectKey);
}

/** Reports whether the Service selects Pods. Endpoints of other Services are written by somebody else. */
export function hasPods({ selector, type }: Service['spec']): boolean {
  return selector !== undefined && type !== 'ExternalName' && Object.keys(selector).length > 0;
}

/** Reports whether a change of a Pod affects endpoints. */
export function isAboutEndpoints(event: ObjectEvent<Pod>): boolean {
  if (event.type !== 'update') return event.object.status?.podIP !== undefined;
  const { old, object } = event;
  return (
    isTerminating(old) !== isTerminating(object) ||
    isPodReady(old) !== isPodReady(object) ||
    isFinished(old) !== isFinished(object) ||
    !deepEqual(old.status?.podIPs, object.status?.podIPs) ||
    !deepEqual(old.metadata.labels, object.metadata.labels)
  );
}

/** Finds the unfinished Pods of a Service that have an address, sorted by name. */
export function podsBehind(pods: Lister<Pod>, { metadata, spec }: Service): Pod[] {
  return podsWithLabels(pods, must(metadata.namespace, 'metadata.namespace'), spec.selector ?? {})
    .filter((pod) => !isFinished(pod) && pod.status?.podIP !== undefined)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

function addressOf({ status }: Pod, family: string): string | undefined {
  const addresses = status?.podIPs ?? (status?.podIP === undefined ? [] : [{ ip: status.podIP }]);
  return addresses.find(({ ip }) => ipFamily(ip) === family)?.ip;
}

export function familiesOf({ spec }: Service): readonly string[] {
  return spec.ipFamilies && spec.ipFamilies.length > 0 ? spec.ipFamilies : ['IPv4'];
}

/** Returns the labels of the Service and, for a headless one, the headless label. */
export function labelsBehind({ metadata, spec }: Service): Record<string, string> {
  return { ...metadata.labels, ...(spec.clusterIP === 'None' && { [headlessLabel]: '' }) };
}

/** A Service port with the number a Pod uses. */
export interface ResolvedPort {
  name: string;
  protocol: string;
  port: number;
  appProtocol?: string;
}

/** Resolves the ports of a Service. Named ports the Pod does not have are left out. */
function resolvePorts(desired: readonly ServicePort[], named: ReadonlyMap<string, number>): ResolvedPort[] {
  return desired.flatMap((one) => {
    const { name = '', protocol = 'TCP', appProtocol, port: own, targetPort = own } = one;
    const port = typeof targetPort === 'number' ? targetPort : named.get(namedPort(targetPort, protocol));
    return port === undefined ? [] : [{ name, protocol, port, ...(appProtocol !== undefined && { appProtocol }) }];
  });
}

function namedPort(name: string, protocol: string): string {
  return `${protocol} ${name}`;
}

/** Finds the numbers of the Pod ports that the Service refers to by name. The first port of a name wins. */
function namedPortsAt(names: ReadonlySet<string>, { spec }: Pod): Map<string, number> {
  const found = new Map<string, number>();
  if (names.size === 0) return found;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const container of [...spec.containers, ...sidecars]) {
    for (const { name, protocol = 'TCP', containerPort } of container.ports ?? []) {
      const key = namedPort(name ?? '', protocol);
      if (names.has(key) && !found.has(key)) found.set(key, containerPort);
    }
  }
  return found;
}

export interface Place {
  readonly pod: Pod;
  readonly address: string;
}

/** Pods with the same resolved ports. */
export interface PortGroup {
  readonly ports: ResolvedPort[];
  readonly places: Place[];
}

/** Groups Pods that have an address of the family by their resolved ports. */
export function groupByPorts(service: Service, pods: readonly Pod[], family: string): PortGroup[] {
  const desired = service.spec.ports ?? [];
  const names = new Set<string>();
  for (const { targetPort, protocol = 'TCP' } of desired) {
    if (typeof targetPort === 'string') names.add(namedPort(targetPort, protocol));
  }
  const groups = new Map<string, PortGroup>();
  for (const pod of pods) {
    const address = addressOf(pod, family);
    if (address === undefined) continue;
    // Only named ports differ between Pods, so ports are resolved once per group, not once per Pod.
    const named = namedPortsAt(names, pod);
    const key = JSON.stringify([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
    let group = groups.get(key);
    if (!group) {
      group = { ports: resolvePorts(desired, named), places: [] };
      groups.set(key, group);
    }
    group.places.push({ pod, address });
  }
  return [...groups.values()];
}

/** Fields that Endpoints and EndpointSlices share for a Pod. */
export function identityAt(service: Service, pod: Pod): PodIdentity {
  const hostname = hostnameAt(service, pod);
  return {
    ...(hostname !== undefined && { hostname }),
    ...(pod.spec.nodeName !== undefined && { nodeName: pod.spec.nodeName }),
    targetRef: targetOf(pod),
  };
}

export interface PodIdentity {
  hostname?: string;
  nodeName?: string;
  targetRef: { kind: string; namespace: string; name: string; uid: string };
}

/** DNS name of a Pod below a headless Service. */
function hostnameAt({ metadata }: Service, { spec }: Pod): string | undefined {
  return spec.hostname !== undefined && spec.subdomain === metadata.name ? spec.hostname : undefined;
}

function targetOf({ metadata }: Pod): PodIdentity['targetRef'] {
  return {
    kind: 'Pod',
    namespace: must(metadata.namespace, 'metadata.namespace'),
    name: must(metadata.name, 'metadata.name'),
    uid: must(metadata.uid, 'metadata.uid'),
  };
}
