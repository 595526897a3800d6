import type { Cluster, RKE2AgentConfig, RKE2Component, RKE2ConfigSpec, RKE2ServerConfig } from '../../../api/index.ts';
import type { JsonObject, JsonValue } from '../../../machinery/index.ts';
import { filePaths } from './paths.ts';

// Pure functions that map the spec to settings in rke2's config.yaml.

/** Contents of the references in the spec; absent without a reference. */
export interface ResolvedReferences {
  auditPolicy?: string;
  cloudConfig?: string;
  resolvConf?: string;
  credentialProviders?: { config: string; directory: string };
  s3?: { accessKey: string; secretKey: string };
  s3Authority?: string;
  encryptionKey?: string;
  datastore?: { endpoint: string; authority?: string; certificate?: string; key?: string };
}

export interface SettingsInput {
  spec: RKE2ConfigSpec;
  server: RKE2ServerConfig;
  cluster: Cluster;
  machineName: string;
  token: string;
  /** registration address; absent on the machine that initializes the cluster */
  join?: string;
  references: ResolvedReferences;
}

/** Drops settings that are absent, empty or false, because those are rke2's defaults. */
function present(settings: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(settings)) {
    if (value === undefined || value === '' || value === false) continue;
    if (Array.isArray(value) && value.length === 0) continue;
    result[key] = value;
  }
  return result;
}

const sorted = (map: Readonly<Record<string, string>> | undefined, separator: string): string[] =>
  Object.entries(map ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}${separator}${value}`);

function component(name: string, settings: RKE2Component | undefined): Record<string, JsonValue | undefined> {
  return {
    [`${name}-arg`]: settings?.extraArgs,
    [`${name}-image`]: settings?.overrideImage,
    [`${name}-extra-mount`]: sorted(settings?.extraMounts, ':'),
    [`${name}-extra-env`]: sorted(settings?.extraEnv, '='),
  };
}

/** Settings of every machine; workers have no others. */
export function agentSettings(input: SettingsInput): JsonObject {
  const { spec, server, references, join, token } = input;
  const agent: RKE2AgentConfig = spec.agentConfig ?? {};
  return present({
    server: join,
    token,
    'node-name': agent.nodeName ? `${agent.nodeName}${input.machineName}` : undefined,
    'cloud-provider-name': server.cloudProviderName,
    'cloud-provider-config': references.cloudConfig === undefined ? undefined : filePaths.cloudConfig,
    'container-runtime-endpoint': agent.containerRuntimeEndpoint,
    'data-dir': agent.dataDir,
    'image-credential-provider-bin-dir': references.credentialProviders?.directory,
    'image-credential-provider-config': references.credentialProviders ? filePaths.credentialProviders : undefined,
    ...component('kube-proxy', agent.kubeProxy),
    'kubelet-arg': agent.kubelet?.extraArgs,
    'kubelet-path': agent.kubeletPath,
    'lb-server-port': agent.loadBalancerPort,
    'node-label': agent.nodeLabels,
    'node-taint': agent.nodeTaints,
    'pod-security-admission-config-file': agent.podSecurityAdmissionConfigFile,
    profile: agent.cisProfile,
    'protect-kernel-defaults': agent.protectKernelDefaults,
    'resolv-conf': references.resolvConf === undefined ? undefined : filePaths.resolvConf,
    'runtime-image': agent.runtimeImage,
    selinux: agent.enableContainerdSElinux,
    snapshotter: agent.snapshotter,
    'system-default-registry': agent.systemDefaultRegistry,
  });
}

/** Settings of a control plane machine. */
export function serverSettings(input: SettingsInput): JsonObject {
  const { server, cluster, references } = input;
  const { pods, services } = cluster.spec.clusterNetwork ?? {};
  const { kubernetesComponents = [], pluginComponents } = server.disableComponents ?? {};
  return {
    ...agentSettings(input),
    ...present({
      'advertise-address': server.advertiseAddress,
      'audit-policy-file': references.auditPolicy === undefined ? undefined : filePaths.auditPolicy,
      'bind-address': server.bindAddress,
      cni: networkPlugins(server),
      'cluster-cidr': pods?.cidrBlocks.join(','),
      'service-cidr': services?.cidrBlocks.join(','),
      'cluster-dns': server.clusterDNS,
      'cluster-domain': server.clusterDomain || cluster.spec.clusterNetwork?.serviceDomain,
      disable: pluginComponents,
      'disable-cloud-controller': kubernetesComponents.includes('cloudController'),
      'disable-kube-proxy': kubernetesComponents.includes('kubeProxy'),
      'disable-scheduler': kubernetesComponents.includes('scheduler'),
      'embedded-registry': server.embeddedRegistry,
      'ingress-controller': server.ingressController,
      ...component('kube-apiserver', server.kubeAPIServer),
      ...component('kube-controller-manager', server.kubeControllerManager),
      ...component('kube-scheduler', server.kubeScheduler),
      ...component('cloud-controller-manager', server.cloudControllerManager),
      'pause-image': server.pauseImage,
      'secrets-encryption-provider': server.secretsEncryption?.provider,
      'service-node-port-range': server.serviceNodePortRange,
      'supervisor-metrics': server.supervisorMetrics,
      'tls-san': subjectNames(input),
      ...etcdSettings(input),
      ...datastoreSettings(references),
    }),
  };
}

function networkPlugins({ cni, cniMultusEnable }: RKE2ServerConfig): string[] {
  if (cni === undefined) return [];
  return cniMultusEnable === true ? ['multus', cni] : [cni];
}

/** Adds the cluster endpoint to the certificate SANs, because clients connect through it. */
function subjectNames({ server, cluster }: SettingsInput): string[] {
  const names = [...(server.tlsSan ?? []), cluster.spec.controlPlaneEndpoint?.host ?? ''];
  return [...new Set(names.filter((name) => name !== ''))];
}

function etcdSettings({ server, references }: SettingsInput): Record<string, JsonValue | undefined> {
  const { backupConfig = {}, customConfig, exposeMetrics } = server.etcd ?? {};
  const { s3 } = backupConfig;
  return {
    ...component('etcd', customConfig),
    'etcd-expose-metrics': exposeMetrics,
    'etcd-disable-snapshots': backupConfig.disableAutomaticSnapshots,
    'etcd-snapshot-dir': backupConfig.directory,
    'etcd-snapshot-name': backupConfig.snapshotName,
    'etcd-snapshot-retention': backupConfig.retention ? Number(backupConfig.retention) : undefined,
    'etcd-snapshot-schedule-cron': backupConfig.scheduleCron,
    ...(s3 && {
      'etcd-s3': true,
      'etcd-s3-endpoint': s3.endpoint,
      'etcd-s3-bucket': s3.bucket,
      'etcd-s3-region': s3.region,
      'etcd-s3-folder': s3.folder,
      'etcd-s3-access-key': references.s3?.accessKey,
      'etcd-s3-secret-key': references.s3?.secretKey,
      'etcd-s3-endpoint-ca': references.s3Authority === undefined ? undefined : filePaths.s3Authority,
      // upstream skips verification by default, contrary to its documentation
      'etcd-s3-skip-ssl-verify': s3.enforceSslVerify === false,
    }),
  };
}

function datastoreSettings({ datastore }: ResolvedReferences): Record<string, JsonValue | undefined> {
  if (!datastore) return {};
  return {
    'datastore-endpoint': datastore.endpoint,
    'datastore-cafile': datastore.authority === undefined ? undefined : filePaths.datastoreAuthority,
    'datastore-certfile': datastore.certificate === undefined ? undefined : filePaths.datastoreCertificate,
    'datastore-keyfile': datastore.key === undefined ? undefined : filePaths.datastoreKey,
  };
}
