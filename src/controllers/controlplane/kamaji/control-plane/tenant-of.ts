import {
  type Cluster,
  clusterNameLabel,
  type KamajiComponent,
  type KamajiControlPlane,
  type KamajiControlPlaneFields,
  KamajiControlPlanes,
  type PerComponent,
  type TenantControlPlane,
  type TenantControlPlaneSpec,
  TenantControlPlanes,
  type TenantDeployment,
  type TenantNetworkProfile,
  withLeadingV,
} from '../../../../api/index.ts';
import { formatApiVersion } from '../../../../machinery/index.ts';
import { lastAppliedAnnotation, ownerReference } from '../../../shared/index.ts';
import { tenantFinalizer } from '../names.ts';

/** Builds the TenantControlPlane of a KamajiControlPlane, with the same name and a translated spec. */
export function tenantOf(controlPlane: KamajiControlPlane, cluster: Cluster): TenantControlPlane {
  const { name = '', namespace = '', labels, annotations = {} } = controlPlane.metadata;
  const { [lastAppliedAnnotation]: _, ...kept } = annotations;
  return {
    apiVersion: formatApiVersion(TenantControlPlanes.group, TenantControlPlanes.version),
    kind: TenantControlPlanes.kind,
    metadata: {
      name,
      namespace,
      labels: { ...labels, [clusterNameLabel]: cluster.metadata.name ?? '' },
      ...(Object.keys(kept).length > 0 && { annotations: kept }),
      ownerReferences: [ownerReference(controlPlane, KamajiControlPlanes, { controller: true })],
      finalizers: [tenantFinalizer],
    },
    spec: tenantSpec(controlPlane, cluster),
  };
}

function tenantSpec({ spec }: KamajiControlPlane, cluster: Cluster): TenantControlPlaneSpec {
  const { network = {}, addons } = spec;
  const { coreDNS, kubeProxy, konnectivity } = addons ?? {};
  const { dnsServiceIPs: _, ...dnsImage } = coreDNS ?? {};
  return {
    ...(spec.dataStoreName && { dataStore: spec.dataStoreName }),
    ...(spec.dataStoreSchema && { dataStoreSchema: spec.dataStoreSchema }),
    ...(spec.dataStoreUsername && { dataStoreUsername: spec.dataStoreUsername }),
    ...(spec.dataStoreOverrides && { dataStoreOverrides: spec.dataStoreOverrides }),
    kubernetes: {
      version: withLeadingV(spec.version),
      kubelet: spec.kubelet ?? {},
      ...(spec.admissionControllers?.length && { admissionControllers: spec.admissionControllers }),
    },
    networkProfile: networkProfile(spec, cluster),
    controlPlane: {
      service: {
        serviceType: network.serviceType ?? 'LoadBalancer',
        ...((network.serviceLabels || network.serviceAnnotations) && {
          additionalMetadata: metadata(network.serviceLabels, network.serviceAnnotations),
        }),
        ...(network.additionalServicePorts && { additionalPorts: network.additionalServicePorts }),
      },
      ...ways(network),
      deployment: deployment(spec),
    },
    addons: {
      ...(coreDNS && { coreDNS: dnsImage }),
      ...(kubeProxy && { kubeProxy }),
      ...(konnectivity && { konnectivity }),
    },
  };
}

const metadata = (
  labels: Record<string, string> | undefined,
  annotations: Record<string, string> | undefined,
): { labels?: Record<string, string>; annotations?: Record<string, string> } => ({
  ...(labels && { labels }),
  ...(annotations && { annotations }),
});

function networkProfile({ network = {}, addons }: KamajiControlPlaneFields, cluster: Cluster): TenantNetworkProfile {
  const { apiServerPort, services, pods, serviceDomain } = cluster.spec.clusterNetwork ?? {};
  const dns = network.dnsServiceIPs ?? addons?.coreDNS?.dnsServiceIPs;
  const { loadBalancerSourceRanges, loadBalancerClass } = network.loadBalancerConfig ?? {};
  return {
    ...(network.serviceAddress && { address: network.serviceAddress }),
    ...(network.advertiseAddress && { advertiseAddress: network.advertiseAddress }),
    ...(apiServerPort && { port: apiServerPort }),
    ...(network.certSANs && { certSANs: network.certSANs }),
    ...(services?.cidrBlocks?.length && { serviceCidrs: services.cidrBlocks.slice(0, 2) }),
    ...(pods?.cidrBlocks?.length && { podCidrs: pods.cidrBlocks.slice(0, 2) }),
    ...(serviceDomain && { clusterDomain: serviceDomain }),
    ...(dns?.length && { dnsServiceIPs: dns }),
    ...(loadBalancerSourceRanges?.length && { loadBalancerSourceRanges }),
    ...(loadBalancerClass && { loadBalancerClass }),
  };
}

function ways({
  ingress,
  gateway,
}: NonNullable<KamajiControlPlaneFields['network']>): Pick<
  TenantControlPlaneSpec['controlPlane'],
  'ingress' | 'gateway'
> {
  return {
    ...(ingress && {
      ingress: {
        hostname: ingress.hostname,
        ...(ingress.className && { ingressClassName: ingress.className }),
        additionalMetadata: metadata(ingress.extraLabels, ingress.extraAnnotations),
      },
    }),
    ...(gateway && {
      gateway: {
        hostname: gateway.hostname.replace(/:[0-9]+$/, ''),
        parentRefs: [
          {
            name: gateway.name,
            namespace: gateway.namespace,
            ...(gateway.sectionName && { sectionName: gateway.sectionName }),
            ...(gateway.port !== undefined && { port: gateway.port }),
          },
        ],
        additionalMetadata: metadata(gateway.extraLabels, gateway.extraAnnotations),
      },
    }),
  };
}

const components = ['apiServer', 'controllerManager', 'scheduler'] as const;

function deployment(spec: KamajiControlPlane['spec']): TenantDeployment {
  const { deployment: given = {}, registry, kine } = spec;
  const { externalClusterReference: _, extraInitContainers, extraContainers, extraVolumes, probes, ...same } = given;
  const each = <T>(read: (component: KamajiComponent) => T | undefined): PerComponent<T> => {
    const result: PerComponent<T> = {};
    for (const name of components) {
      const value = spec[name] && read(spec[name]);
      if (value !== undefined) result[name] = value;
    }
    return result;
  };
  const images = each(({ containerImageName }) => containerImageName);
  return {
    ...same,
    replicas: spec.replicas ?? 2,
    registrySettings: {
      ...(registry && { registry }),
      ...(images.apiServer && { apiServerImage: images.apiServer }),
      ...(images.controllerManager && { controllerManagerImage: images.controllerManager }),
      ...(images.scheduler && { schedulerImage: images.scheduler }),
    },
    extraArgs: { ...each(({ extraArgs }) => extraArgs), ...(kine?.extraArgs && { kine: kine.extraArgs }) },
    resources: { ...each((component) => component.resources), ...(kine?.resources && { kine: kine.resources }) },
    additionalVolumeMounts: each(({ extraVolumeMounts }) => extraVolumeMounts),
    probes: { ...probes, ...each((component) => component.probes) },
    ...(extraInitContainers && { additionalInitContainers: extraInitContainers }),
    ...(extraContainers && { additionalContainers: extraContainers }),
    ...(extraVolumes && { additionalVolumes: extraVolumes }),
  };
}
