import type { Ingress, Service, ServicePort } from '../../api/index.ts';
import { ipFamily, type KubeObject } from '../../machinery/index.ts';
import { gatewayHost, konnectivityEndpoint, planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { ProviderName } from '../naming/types.ts';
import type { PlaneSpec } from '../spec.ts';
import { metadataOf } from './metadata.ts';

const portNames: Readonly<Record<ProviderName, { api: string; konnectivity: string }>> = {
  k0smotron: { api: 'api', konnectivity: 'konnectivity' },
  kamaji: { api: 'kube-apiserver', konnectivity: 'konnectivity-server' },
  hosted: { api: 'api', konnectivity: 'konnectivity' },
};

/** Builds the API Service and its alias. */
export function exposureObjects(desired: PlaneSpec, facts: PlaneFacts): KubeObject[] {
  return [apiService(desired), ...aliasService(desired, facts)];
}

function servicePorts({ exposure, naming, konnectivity, layout }: PlaneSpec): ServicePort[] {
  const names = portNames[naming.provider];
  const isNodePort = exposure.type === 'NodePort';
  const port = (name: string, number: number, targetPort: number): ServicePort => ({
    name,
    port: number,
    targetPort,
    protocol: 'TCP',
    ...(isNodePort && { nodePort: number }),
  });
  const target = exposure.apiTargetPort ?? exposure.apiPort;
  const agents = layout === 'k0s' || konnectivity !== undefined ? exposure.konnectivityPort : undefined;
  return [
    port(names.api, exposure.apiPort, target),
    ...(exposure.legacyApiPort === undefined ? [] : [port('legacy-api', exposure.legacyApiPort, target)]),
    ...(agents === undefined ? [] : [port(names.konnectivity, agents, agents)]),
    ...(exposure.additionalPorts ?? []),
  ];
}

function apiService(desired: PlaneSpec): Service {
  const { exposure, naming } = desired;
  const isLoadBalancer = exposure.type === 'LoadBalancer';
  const address =
    exposure.address !== undefined && ipFamily(exposure.address) !== undefined ? exposure.address : undefined;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(desired, naming.apiService, 'control-plane', exposure.metadata),
    spec: {
      type: exposure.type,
      selector: { ...naming.selector('control-plane') },
      ports: servicePorts(desired),
      ...(exposure.addressAsExternalIp && address !== undefined && { externalIPs: [address] }),
      ...(isLoadBalancer && {
        // for a tenant, the address is requested from the load balancer; for k0s, it only names an existing one
        ...(desired.layout === 'together' && address !== undefined && { loadBalancerIP: address }),
        ...(exposure.loadBalancerClass !== undefined && { loadBalancerClass: exposure.loadBalancerClass }),
        ...(exposure.loadBalancerSourceRanges && { loadBalancerSourceRanges: [...exposure.loadBalancerSourceRanges] }),
        ...(exposure.allocateLoadBalancerNodePorts !== undefined && {
          allocateLoadBalancerNodePorts: exposure.allocateLoadBalancerNodePorts,
        }),
      }),
      ...(exposure.type !== 'ClusterIP' &&
        exposure.externalTrafficPolicy !== undefined && { externalTrafficPolicy: exposure.externalTrafficPolicy }),
    },
  };
}

/** Load balancer class of Services that only display another Service's address. */
export const aliasLoadBalancerClass = 'controlplane.cluster.x-k8s.io/alias';

/** Builds a Service with the name that guides mention and the address of the plane, without its own load balancer. */
function aliasService(desired: PlaneSpec, facts: PlaneFacts): Service[] {
  const { exposure, naming } = desired;
  const name = exposure.aliasServiceName;
  const answer = planeEndpoint(desired, facts);
  if (name === undefined || name === naming.apiService || !answer.known) return [];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadataOf(desired, name, 'cluster'),
      spec: {
        type: 'LoadBalancer',
        // no load balancer is created; the engine writes its status
        loadBalancerClass: aliasLoadBalancerClass,
        allocateLoadBalancerNodePorts: false,
        selector: { ...naming.selector('control-plane') },
        ports: servicePorts(desired).map(({ nodePort: _, ...port }) => port),
      },
    },
  ];
}

/** Builds an Ingress or Gateway routes to the Service. */
export function routeObjects(desired: PlaneSpec, facts: PlaneFacts): KubeObject[] {
  return [...ingress(desired), ...tlsRoutes(desired, facts)];
}

function ingress(desired: PlaneSpec): Ingress[] {
  const { exposure, naming } = desired;
  const { ingress: wanted } = exposure;
  if (!wanted?.deploy) return [];
  const rule = (host: string, port: number) => ({
    host,
    http: {
      paths: [
        { path: '/', pathType: 'Prefix', backend: { service: { name: naming.apiService, port: { number: port } } } },
      ],
    },
  });
  const [host = ''] = wanted.host.split(':');
  const agents = wanted.konnectivityHost;
  return [
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: metadataOf(desired, naming.ingress, 'ingress', wanted.metadata),
      spec: {
        ...(wanted.className !== undefined && { ingressClassName: wanted.className }),
        rules: [
          rule(host, exposure.apiPort),
          ...(agents === undefined || exposure.konnectivityPort === undefined
            ? []
            : [rule(agents, exposure.konnectivityPort)]),
        ],
      },
    } as Ingress,
  ];
}

function tlsRoutes(desired: PlaneSpec, facts: PlaneFacts): KubeObject[] {
  const { exposure, naming, konnectivity } = desired;
  const { gateway } = exposure;
  const host = gateway && gatewayHost(desired, facts)?.split(':')[0];
  if (!gateway || host === undefined) return [];
  const route = (name: string, hostname: string, port: number, section: string | undefined): KubeObject =>
    ({
      apiVersion: 'gateway.networking.k8s.io/v1alpha2',
      kind: 'TLSRoute',
      metadata: metadataOf(
        desired,
        name,
        name === naming.apiRoute ? 'control-plane' : 'konnectivity',
        gateway.metadata,
      ),
      spec: {
        hostnames: [hostname],
        parentRefs: [
          {
            group: 'gateway.networking.k8s.io',
            kind: 'Gateway',
            namespace: gateway.namespace,
            name: gateway.name,
            ...(section !== undefined && { sectionName: section }),
            ...(gateway.port !== undefined && section === gateway.sectionName && { port: gateway.port }),
          },
        ],
        rules: [{ backendRefs: [{ group: '', kind: 'Service', name: naming.apiService, port, weight: 1 }] }],
      },
    }) as KubeObject;
  const agents = konnectivity === undefined ? undefined : konnectivityEndpoint(desired, facts);
  // with the same host, routes are distinguished by listener
  const agentSection = agents?.host === host ? portNames[naming.provider].konnectivity : gateway.sectionName;
  return [
    route(naming.apiRoute, host, exposure.apiPort, gateway.sectionName),
    ...(agents && exposure.konnectivityPort !== undefined
      ? [route(naming.konnectivityRoute, agents.host, exposure.konnectivityPort, agentSection)]
      : []),
  ];
}
