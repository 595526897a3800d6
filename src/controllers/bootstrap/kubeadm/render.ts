import type { Cluster, KubeadmConfigSpec, KubeadmJoinConfiguration, NodeTaint } from '../../../api/index.ts';
import { parseKubernetesVersion, withLeadingV } from '../../../api/index.ts';
import {
  type ClusterCertificates,
  certificateFiles,
  clusterConfigurationDocument,
  initConfigurationDocument,
  joinConfigurationDocument,
  type KubeadmClusterFacts,
  uninitializedTaint,
} from '../../shared/index.ts';
import { BootstrapInputError } from '../common/machine-content.ts';
import { discoveryFile, endpointOfCluster } from './discovery.ts';
import { type KubeadmUserData, type RenderedUserData, renderUserData } from './user-data.ts';

/** Common inputs of init and join. */
export interface RenderInput {
  cluster: Cluster;
  kubernetesVersion: string;
  spec: KubeadmConfigSpec;
  certificates: ClusterCertificates;
  /** user-defined files and users with resolved content */
  files: KubeadmUserData['files'];
  users: KubeadmUserData['users'];
}

/** Renders the user data of the first control plane machine; ignores `joinConfiguration`. */
export function renderInit(input: RenderInput): RenderedUserData {
  const { cluster, spec, certificates, kubernetesVersion } = input;
  const init = withBindPort(spec.initConfiguration, cluster);
  return renderUserData({
    verb: 'init',
    documents: [
      clusterConfigurationDocument(spec.clusterConfiguration, clusterFacts(input)),
      initConfigurationDocument(init, kubernetesVersion),
    ],
    spec,
    files: [...certificateFiles(certificates), ...input.files],
    users: input.users,
  });
}

/** Renders the user data of a further control plane machine, including the cluster keys. */
export function renderControlPlaneJoin(input: RenderInput): RenderedUserData {
  const join = input.spec.joinConfiguration;
  const controlPlane = { ...join?.controlPlane };
  const localAPIEndpoint = withBindPort(controlPlane, input.cluster)?.localAPIEndpoint;
  return renderJoin(
    input,
    { ...join, controlPlane: { ...controlPlane, ...(localAPIEndpoint && { localAPIEndpoint }) } },
    certificateFiles(input.certificates),
  );
}

/** Renders the user data of a worker. The uninitialized taint keeps pods away until the Node has its labels. */
export function renderWorkerJoin(input: RenderInput): RenderedUserData {
  const join = input.spec.joinConfiguration;
  if (join?.controlPlane) {
    throw new BootstrapInputError('spec.joinConfiguration.controlPlane is set, but the machine is a worker; remove it');
  }
  const { taints = [] } = join?.nodeRegistration ?? {};
  const nodeRegistration = { ...join?.nodeRegistration, taints: withUninitialized(taints) };
  return renderJoin(input, { ...join, nodeRegistration }, []);
}

function renderJoin(
  input: RenderInput,
  join: KubeadmJoinConfiguration,
  certificates: KubeadmUserData['files'],
): RenderedUserData {
  const file = join.discovery?.file && discoveryFile(join.discovery.file, input.cluster, input.certificates);
  return renderUserData({
    verb: 'join',
    documents: [joinConfigurationDocument(join, input.kubernetesVersion)],
    spec: input.spec,
    files: [...certificates, ...input.files, ...(file ? [file] : [])],
    users: input.users,
  });
}

function withUninitialized(taints: readonly NodeTaint[]): NodeTaint[] {
  const effect = 'NoSchedule';
  return taints.some((taint) => taint.key === uninitializedTaint && taint.effect === effect)
    ? [...taints]
    : [...taints, { key: uninitializedTaint, effect }];
}

/** Sets the bind port from the cluster's API server port unless the configuration has one. */
function withBindPort<T extends { localAPIEndpoint?: { advertiseAddress?: string; bindPort?: number } }>(
  configuration: T | undefined,
  { spec }: Cluster,
): T | undefined {
  const port = spec.clusterNetwork?.apiServerPort;
  if (port === undefined || configuration?.localAPIEndpoint?.bindPort !== undefined) return configuration;
  return { ...configuration, localAPIEndpoint: { ...configuration?.localAPIEndpoint, bindPort: port } } as T;
}

function clusterFacts({ cluster, kubernetesVersion, spec }: RenderInput): KubeadmClusterFacts {
  const { serviceDomain, services, pods } = cluster.spec.clusterNetwork ?? {};
  const controlPlaneEndpoint = endpointOfCluster(cluster);
  const timeout = spec.initConfiguration?.timeouts?.controlPlaneComponentHealthCheckSeconds;
  return {
    clusterName: cluster.metadata.name ?? '',
    kubernetesVersion,
    ...(controlPlaneEndpoint !== undefined && { controlPlaneEndpoint }),
    ...(serviceDomain && { dnsDomain: serviceDomain }),
    ...(services?.cidrBlocks.length && { serviceSubnet: services.cidrBlocks.join(',') }),
    ...(pods?.cidrBlocks.length && { podSubnet: pods.cidrBlocks.join(',') }),
    ...(timeout !== undefined && { controlPlaneTimeoutSeconds: timeout }),
  };
}

/** Returns the version of the machine, which determines the kubeadm API version; throws if it is missing or invalid. */
export function requireVersion(owner: { kind: string; name: string; kubernetesVersion: string | undefined }): string {
  const version = owner.kubernetesVersion;
  if (version === undefined || !parseKubernetesVersion(withLeadingV(version))) {
    throw new BootstrapInputError(
      `${owner.kind} ${owner.name} has ${version === undefined ? 'no spec.version' : `the version "${version}"`}; ` +
        'set one such as v1.33.0: the form of kubeadm configuration depends on it',
    );
  }
  return withLeadingV(version);
}
