import {
  type Endpoint,
  type EndpointSlice,
  EndpointSlices,
  type Node,
  Nodes,
  type Pod,
  Pods,
  type Service,
  Services,
} from '../../../api/index.ts';
import type { Lister } from '../../../client/index.ts';
import { must } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  watchMapped,
  watchObjects,
  watchOwned,
} from '../../../runtime/index.ts';
import { controlledBy, indexByController } from '../common/ownership.ts';
import { indexPodsByLabel } from '../common/pod-index.ts';
import { isPodReady, isTerminating } from '../common/pods.ts';
import {
  familiesOf,
  groupByPorts,
  hasPods,
  identityAt,
  indexServices,
  isAboutEndpoints,
  labelsBehind,
  type Place,
  podsBehind,
  servicesOf,
} from './service-pods.ts';
import { managedByLabel, type SliceContent, serviceNameLabel, writeSlices } from './slices.ts';

const ownName = 'endpointslice-controller.k8s.io';
const zoneLabel = 'topology.kubernetes.io/zone';
const maxEndpoints = 100;

/** Maintains EndpointSlices with the Pod addresses of Services. */
export function endpointSliceController(): ControllerDefinition {
  let services: Lister<Service> | undefined;
  let pods: Lister<Pod> | undefined;
  let nodes: Lister<Node> | undefined;
  let slices: Lister<EndpointSlice> | undefined;
  return defineController({
    name: 'endpoint-slice-controller',
    for: Services,
    watches: [
      watchObjects(Services),
      watchMapped(Pods, (pod) => servicesOf(services, pod), { predicates: [isAboutEndpoints] }),
      watchOwned(EndpointSlices, Services),
    ],
    setup(cache) {
      services = indexServices(cache);
      nodes = cache.informer(Nodes).lister;
      pods = indexPodsByLabel(cache);
      slices = indexByController(cache, EndpointSlices);
    },
    async reconcile({ client }, key) {
      const service = must(services, 'services').get(key);
      // The garbage collector deletes the slices together with the Service.
      if (!service || isTerminating(service) || service.spec.selector === undefined) return done();
      const present = controlledBy(must(slices, 'slices'), service).filter(
        ({ metadata }) => metadata.labels?.[managedByLabel] === ownName && metadata.deletionTimestamp === undefined,
      );
      const zoneOf = (name: string | undefined): string | undefined =>
        name === undefined ? undefined : must(nodes, 'nodes').get({ name })?.metadata.labels?.[zoneLabel];
      const desired = hasPods(service.spec) ? contentsOf(service, podsBehind(must(pods, 'pods'), service), zoneOf) : [];
      await writeSlices(
        client,
        { ...service, apiVersion: 'v1', kind: Services.kind },
        { labels: labelsOf(service) },
        present,
        desired,
      );
      return done();
    },
  });
}

function contentsOf(
  service: Service,
  pods: readonly Pod[],
  zoneOf: (node: string | undefined) => string | undefined,
): SliceContent[] {
  return familiesOf(service).flatMap((family) => {
    const groups = groupByPorts(service, pods, family);
    // A Service without Pods also has a slice, which shows that it has no endpoints.
    if (groups.length === 0) return [{ addressType: family, endpoints: [], ports: [] }];
    return groups.flatMap(({ ports, places }) =>
      chunks(places.map((place) => endpointOf(service, place, zoneOf(place.pod.spec.nodeName)))).map((endpoints) => ({
        addressType: family,
        endpoints,
        ports,
      })),
    );
  });
}

function chunks(endpoints: readonly Endpoint[]): Endpoint[][] {
  const parts: Endpoint[][] = [];
  for (let start = 0; start < endpoints.length; start += maxEndpoints) {
    parts.push(endpoints.slice(start, start + maxEndpoints));
  }
  return parts;
}

function endpointOf(service: Service, { pod, address }: Place, zone: string | undefined): Endpoint {
  const serving = isPodReady(pod);
  const terminating = isTerminating(pod);
  const isPublished = service.spec.publishNotReadyAddresses ?? false;
  return {
    addresses: [address],
    conditions: { ready: isPublished || (serving && !terminating), serving, terminating },
    ...identityAt(service, pod),
    ...(zone !== undefined && { zone }),
  };
}

function labelsOf(service: Service): Record<string, string> {
  return {
    ...labelsBehind(service),
    [serviceNameLabel]: must(service.metadata.name, 'service.metadata.name'),
    [managedByLabel]: ownName,
  };
}
