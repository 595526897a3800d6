import type { Container, Pod, ResourceFieldRef } from '../../api/index.ts';
import { must, parseQuantity } from '../../machinery/index.ts';

/** Data for the downward API beyond the Pod object. */
export interface PodContext {
  readonly nodeName: string;
  readonly nodeAddress: string;
  readonly podAddress: string;
  /** allocatable resources of the node, for containers without limits */
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Returns the value of a Pod field for `fieldRef`; undefined for an unsupported field. */
export function podField(pod: Pod, path: string, around: PodContext): string | undefined {
  const { metadata, spec } = pod;
  const indexed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (indexed) return metadata[indexed[1] as 'labels' | 'annotations']?.[indexed[2] ?? ''] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    case 'spec.nodeName':
      return around.nodeName;
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return around.nodeAddress;
    case 'status.podIP':
    case 'status.podIPs':
      return around.podAddress;
    default:
      return undefined;
  }
}

/** Formats labels and annotations like the downward API: one per line, sorted, values quoted. */
function formatMap(map: Readonly<Record<string, string>> | undefined): string {
  return Object.keys(map ?? {})
    .sort()
    .map((key) => `${key}=${JSON.stringify(must(map, 'map')[key])}`)
    .join('\n');
}

/** Returns a request or limit of a container in units of the divisor, rounded up. */
export function containerResource(
  pod: Pod,
  reference: ResourceFieldRef,
  own: Container | undefined,
  around: PodContext,
): string | undefined {
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const named = reference.containerName
    ? containers.find(({ name }) => name === reference.containerName)
    : (own ?? containers[0]);
  const [side, ...rest] = reference.resource.split('.');
  const resource = rest.join('.');
  if (!named || (side !== 'limits' && side !== 'requests')) return undefined;
  const amounts = named.resources;
  const text = amounts?.[side]?.[resource] ?? (side === 'limits' ? around.allocatable[resource] : undefined) ?? '0';
  const amount = parseQuantity(text);
  const given = reference.divisor && reference.divisor !== '0' ? reference.divisor : '1';
  const divisor = parseQuantity(given);
  if (!amount || !divisor || divisor.nanos <= 0n) return undefined;
  return String((amount.nanos + divisor.nanos - 1n) / divisor.nanos);
}
