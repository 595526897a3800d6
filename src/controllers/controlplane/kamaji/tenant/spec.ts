import {
  clusterNameLabel,
  type ImageOverride,
  type KonnectivitySpec,
  type TenantControlPlane,
  TenantControlPlanes,
  type TenantDeployment,
  withLeadingV,
} from '../../../../api/index.ts';
import {
  type AddonsSpec,
  type BackupSpec,
  type ComponentName,
  type ComponentSpec,
  componentImage,
  type DataStoreSpec,
  defaultRegistry,
  type KonnectivityAgentSpec,
  kamajiNaming,
  konnectivityVersion,
  kubernetesImages,
  type NetworkSpec,
  type PlaneComponents,
  type PlaneImages,
  type PlaneSpec,
  type PodSettings,
  type ProbeSpecs,
  type WriteLimits,
} from '../../../../hosting/index.ts';
import { asJson } from '../../../../machinery/index.ts';
import { ownerReference } from '../../../shared/index.ts';
import { annotatedApiServer } from '../../plane-driver/index.ts';
import { exposureSpec } from './exposure-spec.ts';

const dayMs = 24 * 3_600_000;
const kineImage = 'rancher/kine:v0.11.10-amd64';
const defaultReplicas = 2;
const coreDnsReplicas = 2;

export interface TenantSpecInput {
  tenant: TenantControlPlane;
  /** name of the Cluster; for standalone control planes, of the object itself */
  clusterName: string;
  /** whether a Cluster exists */
  isOfCluster: boolean;
  dataStore: DataStoreSpec;
  backup?: BackupSpec;
}

/** Names and owner of the objects of a plane, sufficient to delete it. */
export function tenantPlaneNames({
  tenant,
  clusterName,
  isOfCluster,
}: Pick<TenantSpecInput, 'tenant' | 'clusterName' | 'isOfCluster'>): Pick<PlaneSpec, 'identity' | 'naming'> {
  const { name = '', namespace = '' } = tenant.metadata;
  return {
    identity: {
      namespace,
      clusterName,
      owner: ownerReference(tenant, TenantControlPlanes, { controller: true }),
      ...(isOfCluster && { metadata: { labels: { [clusterNameLabel]: clusterName } } }),
    },
    naming: kamajiNaming(name),
  };
}

/** Translates the user's spec for the engine. */
export function tenantPlaneSpec(input: TenantSpecInput): PlaneSpec {
  const { tenant, dataStore, backup } = input;
  const { spec } = tenant;
  const { kubernetes, controlPlane, addons } = spec;
  const deployment = controlPlane.deployment ?? {};
  const version = withLeadingV(kubernetes.version);
  const konnectivity = addons?.konnectivity;
  return {
    ...tenantPlaneNames(input),
    layout: 'together',
    version,
    replicas: deployment.replicas ?? defaultReplicas,
    images: imagesOf(version, deployment, tenant),
    components: componentsOf(deployment, konnectivity),
    pods: podsOf(deployment),
    dataStore,
    exposure: exposureSpec(tenant),
    network: networkOf(tenant),
    konnectivity: konnectivity && konnectivityOf(konnectivity),
    addons: addonsOf(tenant),
    apiServer: {
      // NodeRestriction is always enabled: kubelets may change only their own objects
      admissionPlugins: [...new Set([...(kubernetes.admissionControllers ?? []), 'NodeRestriction'])],
      ...(kubernetes.kubelet?.preferredAddressTypes && {
        kubeletPreferredAddressTypes: kubernetes.kubelet.preferredAddressTypes,
      }),
      ...annotatedApiServer(tenant),
    },
    certificates: {
      authorityDurationMs: 3650 * dayMs,
      leafDurationMs: 365 * dayMs,
      leafRenewBeforeMs: 90 * dayMs,
      authorityRenewBeforeMs: 365 * dayMs,
    },
    ...(backup && { backup }),
    writeLimits: writeLimitsOf(tenant),
    patches: [],
  };
}

function writeLimitsOf({ spec }: TenantControlPlane): WriteLimits {
  const { blockCreation = false, blockUpdate = false, blockDeletion = false } = spec.writePermissions ?? {};
  return { blocksCreation: blockCreation, blocksUpdate: blockUpdate, blocksDeletion: blockDeletion };
}

function imagesOf(
  version: string,
  { registrySettings = {} }: TenantDeployment,
  { spec }: TenantControlPlane,
): PlaneImages {
  const { registry = defaultRegistry, tagSuffix = '' } = registrySettings;
  const image = (name: string): string => componentImage(registry, name, version, tagSuffix);
  const usual = kubernetesImages(version);
  const { coreDNS, kubeProxy, konnectivity } = spec.addons ?? {};
  const tunnel = (given: { image?: string; version?: string } | undefined, fallback: string): string =>
    `${given?.image || fallback.slice(0, fallback.lastIndexOf(':'))}:${given?.version || konnectivityVersion(version)}`;
  return {
    apiServer: image(registrySettings.apiServerImage ?? 'kube-apiserver'),
    controllerManager: image(registrySettings.controllerManagerImage ?? 'kube-controller-manager'),
    scheduler: image(registrySettings.schedulerImage ?? 'kube-scheduler'),
    kine: kineImage,
    konnectivityServer: tunnel(konnectivity?.server, usual.konnectivityServer),
    konnectivityAgent: tunnel(konnectivity?.agent, usual.konnectivityAgent),
    coreDns: overridden(usual.coreDns, coreDNS, 'coredns'),
    kubeProxy: overridden(usual.kubeProxy, kubeProxy, 'kube-proxy'),
  };
}

/** Applies an image override. `imageRepository` is the registry path without the image name. */
function overridden(image: string, override: ImageOverride | undefined, name: string): string {
  const colon = image.lastIndexOf(':');
  const repository = override?.imageRepository ? `${override.imageRepository}/${name}` : image.slice(0, colon);
  return `${repository}:${override?.imageTag || image.slice(colon + 1)}`;
}

function componentsOf(deployment: TenantDeployment, konnectivity: KonnectivitySpec | undefined): PlaneComponents {
  const { extraArgs, resources, probes, containerSecurityContexts, additionalVolumeMounts } = deployment;
  const component = (name: 'apiServer' | 'controllerManager' | 'scheduler'): ComponentSpec => {
    const desiredProbes = probesOf(deployment, name);
    return {
      ...(extraArgs?.[name] && { args: extraArgs[name] }),
      ...(resources?.[name] && { resources: resources[name] }),
      ...(containerSecurityContexts?.[name] && { securityContext: containerSecurityContexts[name] }),
      ...(additionalVolumeMounts?.[name] && { volumeMounts: additionalVolumeMounts[name] }),
      ...(probes && { probes: desiredProbes }),
    };
  };
  const server = konnectivity?.server;
  const components: Partial<Record<ComponentName, ComponentSpec>> = {
    apiServer: component('apiServer'),
    controllerManager: component('controllerManager'),
    scheduler: component('scheduler'),
    kine: { ...(extraArgs?.kine && { args: extraArgs.kine }), ...(resources?.kine && { resources: resources.kine }) },
    konnectivityServer: {
      ...(server?.extraArgs && { args: server.extraArgs }),
      ...(server?.resources && { resources: server.resources }),
      ...(server?.securityContext && { securityContext: server.securityContext }),
    },
  };
  return components;
}

/** Probe settings of a component; each field overrides the setting for all components. */
function probesOf({ probes }: TenantDeployment, name: 'apiServer' | 'controllerManager' | 'scheduler'): ProbeSpecs {
  const own = probes?.[name];
  return {
    liveness: { ...probes?.liveness, ...own?.liveness },
    readiness: { ...probes?.readiness, ...own?.readiness },
    startup: { ...probes?.startup, ...own?.startup },
  };
}

function podsOf(deployment: TenantDeployment): PodSettings {
  const { strategy, serviceAccountName, automountServiceAccountToken } = deployment;
  return {
    ...(deployment.podAdditionalMetadata && { metadata: deployment.podAdditionalMetadata }),
    ...(deployment.additionalMetadata && { workloadMetadata: deployment.additionalMetadata }),
    ...(deployment.nodeSelector && { nodeSelector: deployment.nodeSelector }),
    ...(deployment.tolerations && { tolerations: deployment.tolerations }),
    ...(deployment.affinity && { affinity: deployment.affinity }),
    ...(deployment.topologySpreadConstraints && { topologySpreadConstraints: deployment.topologySpreadConstraints }),
    ...(deployment.runtimeClassName && { runtimeClassName: deployment.runtimeClassName }),
    ...(serviceAccountName && { serviceAccountName }),
    ...(automountServiceAccountToken !== undefined && { automountServiceAccountToken }),
    ...(deployment.podSecurityContext && { securityContext: deployment.podSecurityContext }),
    ...(deployment.additionalInitContainers && { initContainers: deployment.additionalInitContainers }),
    ...(deployment.additionalContainers && { containers: deployment.additionalContainers }),
    ...(deployment.additionalVolumes && { volumes: deployment.additionalVolumes }),
    ...(strategy && { strategy: asJson(strategy) }),
  };
}

function networkOf({ spec }: TenantControlPlane): NetworkSpec {
  const { networkProfile = {} } = spec;
  const { serviceCidrs, serviceCidr, podCidrs, podCidr, clusterDomain, dnsServiceIPs } = networkProfile;
  return {
    serviceCidrs: serviceCidrs ?? [serviceCidr || '10.96.0.0/16'],
    podCidrs: podCidrs ?? [podCidr || '10.244.0.0/16'],
    domain: clusterDomain ?? 'cluster.local',
    ...(dnsServiceIPs?.length && { dnsAddresses: dnsServiceIPs }),
  };
}

function konnectivityOf({ agent }: KonnectivitySpec): KonnectivityAgentSpec {
  const { mode, replicas, hostNetwork, tolerations, extraArgs } = agent ?? {};
  return {
    ...(mode === 'Deployment' && { agentReplicas: replicas ?? 1 }),
    ...(hostNetwork === true && { agentHostNetwork: true }),
    ...(tolerations && { agentTolerations: tolerations }),
    ...(extraArgs && { agentArgs: extraArgs }),
  };
}

function addonsOf({ spec }: TenantControlPlane): AddonsSpec {
  const { kubelet } = spec.kubernetes;
  const patches = kubelet?.configurationJSONPatches;
  return {
    ...(spec.addons?.coreDNS && { coreDns: { replicas: coreDnsReplicas } }),
    ...(spec.addons?.kubeProxy && { kubeProxy: {} }),
    kubeadm: true,
    ...(patches && { kubeletPatches: asJson(patches) }),
    ...(kubelet?.cgroupfs && { kubeletCgroupDriver: kubelet.cgroupfs }),
  };
}
