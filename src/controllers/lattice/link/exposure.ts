import {
  type EndpointSlice,
  EndpointSlices,
  type LatticeCluster,
  type LatticeEndpoints,
  type Service,
  Services,
} from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import { latticeFieldManager } from '../names.ts';
import { ensureAccessNamespace } from '../self/access-namespace.ts';
import { cellKey, defaultPorts } from './names.ts';

const by = { fieldManager: latticeFieldManager, force: true };

/** Returns the endpoint settings of the LatticeCluster this process runs in, otherwise the defaults. */
export function endpointsOf(inside: LatticeCluster | undefined): LatticeEndpoints {
  return inside?.spec.endpoints ?? inside?.spec.parentConfig ?? {};
}

export interface PodPorts {
  /** address of the Pod that serves the endpoints (the leader) */
  readonly address: string;
  readonly bootstrap: number;
  readonly agents: number;
}

/**
 * Points the Service at this Pod. It has no selector, because streams must end at the leader. Returns the host for
 * children once known.
 */
export async function exposeCell(
  client: Client,
  endpoints: LatticeEndpoints,
  pod: PodPorts,
  signal: AbortSignal,
): Promise<string | undefined> {
  await ensureAccessNamespace(client, signal);
  const live = await client.get(Services, cellKey, { signal }).catch(ignoreNotFound);
  const service = serviceFor(endpoints);
  if (!live || !isAsWanted(live, service)) await client.apply(Services, service, { ...by, signal });
  const slice = await client.get(EndpointSlices, cellKey, { signal }).catch(ignoreNotFound);
  const wanted = sliceFor(pod);
  if (!slice || !leadsTo(slice, wanted)) await client.apply(EndpointSlices, wanted, { ...by, signal });
  if (endpoints.host !== undefined) return endpoints.host;
  if (service.spec?.type === 'ClusterIP') return `${cellKey.name}.${cellKey.namespace}.svc`;
  const [ingress] = live?.status?.loadBalancer?.ingress ?? [];
  return ingress?.hostname ?? ingress?.ip;
}

/** Deletes the load balancer Service first; deleting the cluster would leave the load balancer behind. */
export async function unexposeCell(client: Client, signal: AbortSignal): Promise<void> {
  const live = await client.get(Services, cellKey, { signal }).catch(ignoreNotFound);
  if (live) await client.delete(Services, cellKey, { signal }).catch(ignoreNotFound);
  const slice = await client.get(EndpointSlices, cellKey, { signal }).catch(ignoreNotFound);
  if (slice) await client.delete(EndpointSlices, cellKey, { signal }).catch(ignoreNotFound);
}

export const portsOf = ({ bootstrapPort, grpcPort }: LatticeEndpoints): { bootstrap: number; agents: number } => ({
  bootstrap: bootstrapPort ?? defaultPorts.bootstrap,
  agents: grpcPort ?? defaultPorts.agents,
});

function serviceFor(endpoints: LatticeEndpoints): Service {
  const { bootstrap, agents } = portsOf(endpoints);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...cellKey },
    spec: {
      type: endpoints.service?.type ?? 'LoadBalancer',
      ports: [
        { name: 'bootstrap', port: bootstrap, protocol: 'TCP' },
        { name: 'agents', port: agents, protocol: 'TCP' },
      ],
    },
  };
}

function isAsWanted(live: Service, wanted: Service): boolean {
  const shape = ({ spec }: Service): string =>
    JSON.stringify([spec?.type, spec?.ports?.map(({ name, port }) => [name, port])]);
  return shape(live) === shape(wanted);
}

function sliceFor({ address, bootstrap, agents }: PodPorts): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...cellKey,
      labels: { 'kubernetes.io/service-name': cellKey.name, 'endpointslice.kubernetes.io/managed-by': 'capstan' },
    },
    addressType: address.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [
      { name: 'bootstrap', port: bootstrap, protocol: 'TCP' },
      { name: 'agents', port: agents, protocol: 'TCP' },
    ],
  };
}

function leadsTo(live: EndpointSlice, wanted: EndpointSlice): boolean {
  const shape = ({ endpoints, ports }: EndpointSlice): string =>
    JSON.stringify([
      (endpoints ?? []).map(({ addresses }) => addresses),
      (ports ?? []).map(({ name, port }) => [name, port]),
    ]);
  return shape(live) === shape(wanted);
}
