import {
  type Cluster,
  clusterNameLabel,
  defaultAuthorityDuration,
  type HostedApiServer,
  type HostedBackup,
  type HostedContainer,
  type HostedControlPlane,
  type HostedControlPlaneSpec,
  HostedControlPlanes,
  type HostedPod,
  withLeadingV,
} from '../../../api/index.ts';
import {
  type AuditSpec,
  type BackupSpec,
  type CertificatePolicy,
  type ComponentSpec,
  type ExposureSpec,
  hostedNaming,
  type NetworkSpec,
  type PlaneComponents,
  type PlaneSpec,
} from '../../../hosting/index.ts';
import { must, parseDuration } from '../../../machinery/index.ts';
import { ownerReference } from '../../shared/index.ts';
import { annotatedApiServer } from '../plane-driver/index.ts';
import { authenticationOf } from './authentication.ts';
import { imagesOf } from './images.ts';
import { auditWebhookSecretName, serviceAccountIssuer } from './names.ts';
import { desiredVolumeSize } from './volumes.ts';

const hourMs = 3_600_000;
const etcdMembers = 3;
const auditRelayImage = 'nginx:1.27.4';
/** share of free space from which upstream defragments */
const fragmentation = 0.2;

export interface HostedSpecInput {
  readonly controlPlane: HostedControlPlane;
  readonly clusterName: string;
  readonly cluster?: Cluster | undefined;
  /** from an annotation, if the spec has no backup */
  readonly backup?: BackupSpec | undefined;
}

/** Names and owner of the objects of a plane, sufficient to delete it. */
export function hostedPlaneNames({
  controlPlane,
  clusterName,
}: Pick<HostedSpecInput, 'controlPlane' | 'clusterName'>): Pick<PlaneSpec, 'identity' | 'naming'> {
  return {
    identity: {
      namespace: controlPlane.metadata.namespace ?? '',
      clusterName,
      owner: ownerReference(controlPlane, HostedControlPlanes, { controller: true }),
      metadata: { labels: { [clusterNameLabel]: clusterName } },
    },
    naming: hostedNaming(clusterName),
  };
}

/** Translates the user's spec for the engine. */
export function hostedPlaneSpec(input: HostedSpecInput): PlaneSpec {
  const { controlPlane, cluster } = input;
  const { spec, metadata } = controlPlane;
  const version = withLeadingV(spec.version);
  const authentication = authenticationOf(version, spec);
  const backup = backupOf(spec.etcd?.backup, metadata.namespace ?? '') ?? input.backup;
  const apiServer = spec.deployment?.apiServer;
  const agentArgs = argsOf(spec.konnectivityClient);
  const proxyArgs = argsOf(spec.kubeProxy);
  return {
    ...hostedPlaneNames(input),
    layout: 'hardened',
    version,
    replicas: spec.replicas ?? 2,
    images: imagesOf(version, spec),
    components: componentsOf(spec),
    pods: { automountServiceAccountToken: false },
    dataStore: {
      kind: 'own-etcd',
      members: etcdMembers,
      // the etcd quota follows the actual volume size, not the requested one
      storage: { size: String(controlPlane.status?.etcdVolumeSize ?? desiredVolumeSize(controlPlane)) },
      deleteVolumes: true,
      defragment: { fragmentation },
    },
    exposure: exposureOf(spec, metadata.namespace ?? ''),
    network: networkOf(cluster),
    konnectivity: {
      agentReplicas: spec.konnectivityClient?.replicas ?? 2,
      ...(agentArgs && { agentArgs }),
    },
    addons: {
      ...((spec.coredns?.replicas ?? 2) > 0 && { coreDns: { replicas: spec.coredns?.replicas ?? 2 } }),
      ...(spec.kubeProxy?.disabled !== true && { kubeProxy: proxyArgs ? { args: proxyArgs } : {} }),
      kubeadm: true,
    },
    apiServer: {
      admissionPlugins: ['NodeRestriction'],
      serviceAccountIssuer,
      kubeletPreferredAddressTypes: ['InternalIP', 'InternalDNS', 'Hostname'],
      ...(apiServer?.audit && { audit: auditOf(apiServer.audit, input.clusterName) }),
      ...(authentication && { authentication }),
      ...annotatedApiServer(input.controlPlane),
    },
    certificates: certificatePolicy(spec),
    ...(backup && { backup }),
    patches: [],
  };
}

function componentsOf({ deployment = {}, etcd }: HostedControlPlaneSpec): PlaneComponents {
  const { apiServer, controllerManager, scheduler } = deployment;
  return {
    apiServer: { ...podOf(apiServer), ...mountsOf(apiServer) },
    controllerManager: { ...podOf(controllerManager), replicas: controllerManager?.replicas ?? 1 },
    scheduler: { ...podOf(scheduler), replicas: scheduler?.replicas ?? 1 },
    konnectivityServer: containerOf(apiServer?.konnectivity),
    etcd: podOf(etcd),
  };
}

function podOf(pod: HostedPod | undefined): ComponentSpec {
  const { priorityClassName } = pod ?? {};
  return { ...containerOf(pod), ...(priorityClassName && { priorityClassName }) };
}

function containerOf(container: HostedContainer | undefined): ComponentSpec {
  const { resources, imagePullPolicy } = container ?? {};
  const args = argsOf(container);
  return {
    ...(args && { args }),
    ...(resources && { resources }),
    ...(imagePullPolicy && { imagePullPolicy }),
  };
}

/** Converts the argument map to flags, whose names have no dashes in the map; undefined if empty. */
function argsOf(container: HostedContainer | undefined): readonly string[] | undefined {
  const args = Object.entries(container?.args ?? {});
  return args.length === 0 ? undefined : args.map(([name, value]) => `--${name.replace(/^-+/, '')}=${value}`);
}

function mountsOf(apiServer: HostedApiServer | undefined): ComponentSpec {
  const mounts = Object.entries(apiServer?.mounts ?? {});
  if (mounts.length === 0) return {};
  return {
    volumes: mounts.map(([name, { configMap, secret }]) => ({
      name,
      ...(configMap && { configMap }),
      ...(secret && { secret }),
    })),
    volumeMounts: mounts.map(([name, { path }]) => ({ name, mountPath: path, readOnly: true })),
  };
}

function exposureOf({ gateway, apiServer, deployment }: HostedControlPlaneSpec, namespace: string): ExposureSpec {
  const sans = [...(deployment?.apiServer?.certSANs ?? []), ...(apiServer?.certSANs ?? [])];
  const common = {
    type: 'LoadBalancer',
    apiTargetPort: 6443,
    konnectivityPort: 8132,
    sans: [...new Set(sans)],
  } as const;
  if (!gateway?.name) return { ...common, apiPort: 6443 };
  return {
    ...common,
    apiPort: 443,
    // clients that connect by IP address send no server name for the Gateway to route by
    legacyApiPort: 6443,
    gateway: { namespace: gateway.namespace || namespace, name: gateway.name },
  };
}

function networkOf(cluster: Cluster | undefined): NetworkSpec {
  const { services, pods, serviceDomain } = cluster?.spec.clusterNetwork ?? {};
  return {
    serviceCidrs: services?.cidrBlocks?.length ? services.cidrBlocks : ['10.96.0.0/12'],
    podCidrs: pods?.cidrBlocks?.length ? pods.cidrBlocks : ['10.0.0.0/16'],
    domain: serviceDomain || 'cluster.local',
  };
}

/**
 * CA certificates live for the given duration and all others for half of it; everything is renewed after half of its
 * lifetime.
 */
function certificatePolicy({ certificates }: HostedControlPlaneSpec): CertificatePolicy {
  const duration = certificates?.caCertificateDuration ?? defaultAuthorityDuration;
  const authorityMs = must(parseDuration(duration), 'the duration of an authority');
  const leafMs = Math.min(authorityMs / 2, 365 * 24 * hourMs);
  return {
    authorityDurationMs: authorityMs,
    authorityRenewBeforeMs: authorityMs / 2,
    leafDurationMs: leafMs,
    leafRenewBeforeMs: leafMs / 2,
  };
}

function auditOf({ policy, mode, webhook }: NonNullable<HostedApiServer['audit']>, clusterName: string): AuditSpec {
  return {
    policy: { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...policy },
    mode: mode ?? 'batch',
    ...(webhook && {
      webhook: {
        secretName: auditWebhookSecretName(clusterName),
        ...(webhook.targets.length > 1 && { relayImage: auditRelayImage }),
      },
    }),
  };
}

function backupOf(backup: HostedBackup | undefined, namespace: string): BackupSpec | undefined {
  if (!backup) return undefined;
  const { name, accessKeyIDKey, secretAccessKeyKey, hostKey, regionKey, bucketKey } = backup.secret;
  return {
    schedule: backup.schedule,
    target: {
      type: 's3',
      secretNamespace: backup.secret.namespace || namespace,
      secretName: name,
      keys: {
        accessKeyId: accessKeyIDKey ?? 'accessKeyID',
        secretAccessKey: secretAccessKeyKey ?? 'secretAccessKey',
        host: hostKey ?? 'host',
        region: regionKey ?? 'region',
        bucket: bucketKey ?? 'bucket',
      },
    },
  };
}
