import {
  type EndpointAddress,
  type EndpointSubset,
  type Endpoints,
  EndpointsResource,
  type Pod,
  Pods,
  type Service,
  Services,
} from '../../../api/index.ts';
import type { Client, Lister } from '../../../client/index.ts';
import { deepEqual, ignoreNotFound, must } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  defineController,
  done,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import { isNamespaceTerminating } from '../common/make-pods.ts';
import { fieldManager } from '../common/names.ts';
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

const managedByLabel = 'endpoints.kubernetes.io/managed-by';
const ownName = 'endpoint-controller';

/** Maintains Endpoints objects, which older clients read. */
export function endpointsController(): ControllerDefinition {
  let services: Lister<Service> | undefined;
  let pods: Lister<Pod> | undefined;
  let endpoints: Lister<Endpoints> | undefined;
  return defineController({
    name: ownName,
    for: Services,
    watches: [
      watchObjects(Services),
      watchMapped(Pods, (pod) => servicesOf(services, pod), { predicates: [isAboutEndpoints] }),
      watchObjects(EndpointsResource, { predicates: [({ object }) => isOurs(object)] }),
    ],
    setup(cache) {
      services = indexServices(cache);
      pods = indexPodsByLabel(cache);
      endpoints = cache.informer(EndpointsResource).lister;
    },
    async reconcile({ client }, key) {
      const service = must(services, 'services').get(key);
      const present = must(endpoints, 'endpoints').get(key);
      if (!service || !hasPods(service.spec)) {
        if (present && isOurs(present)) await client.delete(EndpointsResource, key).catch(ignoreNotFound);
        return done();
      }
      if (!isTerminating(service))
        await write(client, service, present, subsetsOf(service, podsBehind(must(pods, 'pods'), service)));
      return done();
    },
  });
}

function isOurs({ metadata }: Endpoints): boolean {
  return metadata.labels?.[managedByLabel] === ownName;
}

async function write(
  client: Client,
  service: Service,
  present: Endpoints | undefined,
  subsets: EndpointSubset[],
): Promise<void> {
  const labels = { ...labelsBehind(service), [managedByLabel]: ownName };
  if (present && deepEqual(present.subsets ?? [], subsets) && deepEqual(present.metadata.labels, labels)) return;
  const { namespace, name } = service.metadata;
  const desired: Endpoints = {
    ...(present ?? { apiVersion: 'v1', kind: 'Endpoints' }),
    metadata: {
      ...(present?.metadata ?? { namespace: must(namespace, 'namespace'), name: must(name, 'name') }),
      labels,
    },
    subsets,
  };
  if (present) await client.update(EndpointsResource, desired, { fieldManager }).catch(ignoreNotFound);
  else {
    await client.create(EndpointsResource, desired, { fieldManager }).catch((error: unknown) => {
      if (!isNamespaceTerminating(error)) throw error;
    });
  }
}

/** Groups addresses with the same ports into subsets. */
function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const isPublished = service.spec.publishNotReadyAddresses ?? false;
  const [family = 'IPv4'] = familiesOf(service);
  const reachable = isPublished ? pods : pods.filter((pod) => !isTerminating(pod));
  const hasPorts = (service.spec.ports ?? []).length > 0;
  const isOpen = ({ pod }: Place): boolean => isPublished || isPodReady(pod);
  const toAddress = ({ pod, address }: Place): EndpointAddress => ({ ip: address, ...identityAt(service, pod) });
  return groupByPorts(service, reachable, family)
    .filter(({ ports }) => ports.length > 0 || !hasPorts)
    .map(({ ports, places }) => {
      const ready = places.filter(isOpen);
      const notReady = places.filter((place) => !isOpen(place));
      return {
        ...(ready.length > 0 && { addresses: ready.map(toAddress) }),
        ...(notReady.length > 0 && { notReadyAddresses: notReady.map(toAddress) }),
        ...(ports.length > 0 && { ports: ports.map(({ name, ...port }) => (name === '' ? port : { name, ...port })) }),
      };
    });
}
