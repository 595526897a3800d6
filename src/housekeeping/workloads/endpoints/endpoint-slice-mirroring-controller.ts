import {
  type Endpoint,
  type EndpointAddress,
  type EndpointSlice,
  EndpointSlices,
  type Endpoints,
  EndpointsResource,
  type Service,
  Services,
} from '../../../api/index.ts';
import { type Lister, type ObjectKey, objectKey } from '../../../client/index.ts';
import { ignoreNotFound, ipFamily, must } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  type EventRecorder,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import { lastAppliedAnnotation } from '../common/names.ts';
import { isTerminating } from '../common/pods.ts';
import { managedByLabel, type SliceContent, serviceNameLabel, writeSlices } from './slices.ts';

const ownName = 'endpointslicemirroring-controller.k8s.io';
const skipLabel = 'endpointslice.kubernetes.io/skip-mirror';
const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';
const notCopied: ReadonlySet<string> = new Set([
  'endpoints.kubernetes.io/last-change-trigger-time',
  lastAppliedAnnotation,
]);
/** limit per subset; further addresses are dropped and an event reports it */
const maxAddresses = 1_000;
const mirrored = 'mirrored-for';

/**
 * Copies Endpoints that users write for Services without a selector into EndpointSlices, because readers look only at
 * slices.
 */
export function endpointSliceMirroringController(): ControllerDefinition {
  let services: Lister<Service> | undefined;
  let endpoints: Lister<Endpoints> | undefined;
  let slices: Lister<EndpointSlice> | undefined;
  return defineController({
    name: 'endpoint-slice-mirroring-controller',
    for: EndpointsResource,
    watches: [
      watchObjects(EndpointsResource),
      watchMapped(Services, (service) => [objectKey(service)]),
      watchMapped(EndpointSlices, mirroredFor),
    ],
    setup(cache) {
      services = cache.informer(Services).lister;
      endpoints = cache.informer(EndpointsResource).lister;
      const informer = cache.informer(EndpointSlices);
      informer.addIndexer(mirrored, (slice) => mirroredFor(slice).map(({ namespace, name }) => `${namespace}/${name}`));
      slices = informer.lister;
    },
    async reconcile({ client, events }, key) {
      const present = must(slices, 'slices')
        .byIndex(mirrored, `${key.namespace}/${key.name}`)
        .filter((slice) => !isTerminating(slice));
      const source = must(endpoints, 'endpoints').get(key);
      const service = must(services, 'services').get(key);
      if (!source || !isMirrored(source, service)) {
        for (const slice of present) await client.delete(EndpointSlices, objectKey(slice)).catch(ignoreNotFound);
        return done();
      }
      const owner = { ...source, apiVersion: 'v1', kind: EndpointsResource.kind };
      const marks = { labels: labelsOf(source), annotations: annotationsOf(source) };
      await writeSlices(client, owner, marks, present, contentsOf(source, events));
      return done();
    },
  });
}

function mirroredFor({ metadata: { namespace, labels } }: EndpointSlice): ObjectKey[] {
  const name = labels?.[serviceNameLabel];
  return labels?.[managedByLabel] === ownName && name && namespace !== undefined ? [{ namespace, name }] : [];
}

/** Endpoints of a Service with a selector are built from Pods, as are its slices, so they are not mirrored. */
function isMirrored(source: Endpoints, service: Service | undefined): boolean {
  const { labels, annotations } = source.metadata;
  if (!service || service.spec.selector !== undefined || isTerminating(source)) return false;
  return labels?.[skipLabel] !== 'true' && annotations?.[leaderAnnotation] === undefined;
}

function labelsOf({ metadata }: Endpoints): Record<string, string> {
  return { ...metadata.labels, [serviceNameLabel]: must(metadata.name, 'metadata.name'), [managedByLabel]: ownName };
}

function annotationsOf({ metadata }: Endpoints): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !notCopied.has(key)));
}

type Ports = NonNullable<NonNullable<Endpoints['subsets']>[number]['ports']>;

/** Groups addresses of a family with the same ports into one slice, across subsets. */
function contentsOf(source: Endpoints, events: EventRecorder): SliceContent[] {
  const places = new Map<string, { address: EndpointAddress; isReady: boolean; ports: Map<string, Ports[number]> }>();
  let skipped = 0;
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of source.subsets ?? []) {
    const all = [...addresses, ...notReadyAddresses];
    skipped += Math.max(0, all.length - maxAddresses);
    for (const [index, address] of all.slice(0, maxAddresses).entries()) {
      const isReady = index < addresses.length;
      const key = `${isReady} ${address.ip} ${address.targetRef?.uid ?? ''}`;
      let place = places.get(key);
      if (!place) {
        place = { address, isReady, ports: new Map() };
        places.set(key, place);
      }
      for (const port of ports) place.ports.set(`${port.protocol ?? 'TCP'} ${port.port} ${port.name ?? ''}`, port);
    }
  }
  if (skipped > 0) {
    const message = `A max of ${maxAddresses} addresses can be mirrored to EndpointSlices per Endpoints subset. ${skipped} addresses were skipped`;
    events.event(source, 'Warning', 'TooManyAddressesToMirror', message);
  }
  const contents = new Map<string, SliceContent>();
  for (const { address, isReady, ports } of places.values()) {
    const addressType = ipFamily(address.ip) ?? 'IPv4';
    const sorted = [...ports].sort(([a], [b]) => (a < b ? -1 : 1));
    const key = `${addressType} ${sorted.map(([port]) => port).join(',')}`;
    let content = contents.get(key);
    if (!content) {
      content = { addressType, endpoints: [], ports: sorted.map(([, port]) => portOf(port)) };
      contents.set(key, content);
    }
    content.endpoints.push(endpointOf(address, isReady));
  }
  return [...contents.values()];
}

function portOf({ name = '', port, protocol = 'TCP', appProtocol }: Ports[number]): SliceContent['ports'][number] {
  return { name, protocol, port, ...(appProtocol !== undefined && { appProtocol }) };
}

function endpointOf({ ip, hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname && { hostname }),
    ...(nodeName !== undefined && { nodeName }),
    ...(targetRef && { targetRef }),
  };
}
