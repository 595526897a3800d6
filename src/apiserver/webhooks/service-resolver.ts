import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { builtInAnnotation } from '../crd/native.ts';
import { keyPrefix, objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { ServiceAddress, ServiceResolver } from './webhook-client.ts';

/**
 * Resolves a Service from the store. Cluster IPs work only inside a cluster network, so backends are dialed directly:
 * from EndpointSlices, otherwise from Endpoints, otherwise by the external name.
 */
export function storeServiceResolver(store: Store<StoredObject>): ServiceResolver {
  return (namespace, name, port) => {
    const service = store.get(objectKey({ group: '', plural: 'services' }, namespace, name))?.value.object;
    if (!service) return { fault: `service "${name}" not found` };
    const spec = isJsonObject(service.spec) ? service.spec : {};
    const ports = objects(spec['ports']);
    const servicePort = ports.find((candidate) => candidate['port'] === port);
    if (spec['type'] === 'ExternalName' && typeof spec['externalName'] === 'string') {
      return { host: spec['externalName'], port };
    }
    if (!servicePort) return { fault: `no service port ${port} found for service "${name}"` };
    const portName = String(servicePort['name'] ?? '');
    const address = fromSlices(store, namespace, name, portName) ?? fromEndpoints(store, namespace, name, portName);
    return address ?? { fault: `no endpoints available for service "${name}"` };
  };
}

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function portNumber(ports: readonly JsonObject[], name: string): number | undefined {
  const port = ports.find((candidate) => String(candidate['name'] ?? '') === name)?.['port'];
  return typeof port === 'number' ? port : undefined;
}

function fromSlices(
  store: Store<StoredObject>,
  namespace: string,
  name: string,
  portName: string,
): ServiceAddress | undefined {
  const prefix = keyPrefix({ group: 'discovery.k8s.io', plural: 'endpointslices' }, namespace);
  for (const { value } of store.list(prefix).records) {
    if (value.labels?.['kubernetes.io/service-name'] !== name) continue;
    const port = portNumber(objects(value.object['ports']), portName);
    for (const endpoint of objects(value.object['endpoints'])) {
      const ready = !isJsonObject(endpoint['conditions']) || endpoint['conditions']['ready'] !== false;
      if (standsForBuiltIn(store, namespace, endpoint['targetRef'])) continue;
      const [host] = Array.isArray(endpoint['addresses']) ? endpoint['addresses'] : [];
      if (ready && typeof host === 'string' && port !== undefined) return { host, port };
    }
  }
  return undefined;
}

/** Tells whether a target is a placeholder Pod of built-in controllers, which serve no webhooks. */
function standsForBuiltIn(store: Store<StoredObject>, namespace: string, target: unknown): boolean {
  if (!isJsonObject(target) || target['kind'] !== 'Pod' || typeof target['name'] !== 'string') return false;
  const pod = store.get(objectKey({ group: '', plural: 'pods' }, namespace, target['name']))?.value.object;
  return pod?.metadata.annotations?.[builtInAnnotation] !== undefined;
}

function fromEndpoints(
  store: Store<StoredObject>,
  namespace: string,
  name: string,
  portName: string,
): ServiceAddress | undefined {
  const endpoints = store.get(objectKey({ group: '', plural: 'endpoints' }, namespace, name))?.value.object;
  for (const subset of objects(endpoints?.['subsets'])) {
    const port = portNumber(objects(subset['ports']), portName);
    const [address] = objects(subset['addresses']).filter(
      ({ targetRef }) => !standsForBuiltIn(store, namespace, targetRef),
    );
    const host = address?.['ip'];
    if (typeof host === 'string' && port !== undefined) return { host, port };
  }
  return undefined;
}
