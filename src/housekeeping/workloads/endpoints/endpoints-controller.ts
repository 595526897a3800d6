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
import { deepEqual, ignoreNotFound, type KubeObject, type Resource } from '../../../machinery/index.ts';
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
  addressOf,
  familiesOf,
  hasPods,
  headlessLabel,
  hostnameAt,
  isAboutEndpoints,
  isHeadless,
  podsBehind,
  portsAt,
  type ResolvedPort,
  servicesOf,
  targetOf,
} from './service-pods.ts';

const managedByLabel = 'endpoints.kubernetes.io/managed-by';
const ownName = 'endpoint-controller';

/** Keeps the addresses behind Services in the form old clients read. */
export function endpointsController(): ControllerDefinition {
  let services: Lister<Service> | undefined;
  let pods: Lister<Pod> | undefined;
  let endpoints: Lister<Endpoints> | undefined;
  return defineController({
    name: ownName,
    for: Services as Resource<KubeObject>,
    watches: [
      watchObjects(Services),
      watchMapped(Pods, (pod) => servicesOf(services, pod), { predicates: [isAboutEndpoints] }),
      watchObjects(EndpointsResource, { predicates: [({ object }) => isOurs(object)] }),
    ],
    setup(cache) {
      services = cache.informer(Services).lister;
      pods = indexPodsByLabel(cache);
      endpoints = cache.informer(EndpointsResource).lister;
    },
    async reconcile({ client }, key) {
      const service = services!.get(key);
      const present = endpoints!.get(key);
      if (!service || !hasPods(service.spec)) {
        if (present && isOurs(present)) await client.delete(EndpointsResource, key).catch(ignoreNotFound);
        return done();
      }
      if (!isTerminating(service))
        await write(client, service, present, subsetsOf(service, podsBehind(pods!, service)));
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
  const labels = {
    ...service.metadata.labels,
    [managedByLabel]: ownName,
    ...(isHeadless(service) && { [headlessLabel]: '' }),
  };
  if (present && deepEqual(present.subsets ?? [], subsets) && deepEqual(present.metadata.labels, labels)) return;
  const { namespace, name } = service.metadata;
  const wished: Endpoints = {
    ...(present ?? { apiVersion: 'v1', kind: 'Endpoints' }),
    metadata: { ...(present?.metadata ?? { namespace: namespace!, name: name! }), labels },
    subsets,
  };
  if (present) await client.update(EndpointsResource, wished, { fieldManager }).catch(ignoreNotFound);
  else {
    await client.create(EndpointsResource, wished, { fieldManager }).catch((error: unknown) => {
      if (!isNamespaceTerminating(error)) throw error;
    });
  }
}

/** Addresses that are open at the same ports, together. */
function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const isPublished = service.spec.publishNotReadyAddresses ?? false;
  const [family = 'IPv4'] = familiesOf(service);
  const groups = new Map<string, { ports: ResolvedPort[]; ready: EndpointAddress[]; notReady: EndpointAddress[] }>();
  for (const pod of pods) {
    const ip = addressOf(pod, family);
    if (ip === undefined || (isTerminating(pod) && !isPublished)) continue;
    const ports = portsAt(service, pod);
    if (ports.length === 0 && (service.spec.ports ?? []).length > 0) continue;
    const key = JSON.stringify(ports);
    let group = groups.get(key);
    if (!group) {
      group = { ports, ready: [], notReady: [] };
      groups.set(key, group);
    }
    const hostname = hostnameAt(service, pod);
    const address: EndpointAddress = {
      ip,
      ...(hostname !== undefined && { hostname }),
      ...(pod.spec.nodeName !== undefined && { nodeName: pod.spec.nodeName }),
      targetRef: targetOf(pod),
    };
    (isPublished || isPodReady(pod) ? group.ready : group.notReady).push(address);
  }
  return [...groups.values()].map(({ ports, ready, notReady }) => ({
    ...(ready.length > 0 && { addresses: ready }),
    ...(notReady.length > 0 && { notReadyAddresses: notReady }),
    ...(ports.length > 0 && { ports: ports.map(({ name, ...port }) => (name === '' ? port : { name, ...port })) }),
  }));
}
