import { parse } from 'yaml';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../machinery/index.ts';
import type { RunningMachine } from '../../types.ts';
import type { Argument } from '../kubeadm/documents.ts';
import type { BucketAccess } from './buckets.ts';
import { configFile, registriesFile, rke2DataDirectory } from './paths.ts';
import { Rke2Refusal } from './refusal.ts';

/** The supported part of config.yaml. */
export interface Rke2Config {
  readonly dataDirectory: string;
  readonly nodeName: string;
  readonly token: string | undefined;
  /** server to join */
  readonly server: string | undefined;
  readonly clusterCidr: string;
  readonly serviceCidr: string;
  readonly clusterDomain: string;
  readonly subjectNames: readonly string[];
  readonly networkPlugins: readonly string[];
  readonly hasCloudController: boolean;
  readonly cloudProvider: string | undefined;
  readonly hasScheduler: boolean;
  readonly datastore: string | undefined;
  readonly profile: string | undefined;
  readonly nodeLabels: readonly string[];
  readonly nodeTaints: readonly string[];
  readonly kubeletArgs: readonly Argument[];
  readonly apiServerArgs: readonly Argument[];
  readonly controllerManagerArgs: readonly Argument[];
  readonly schedulerArgs: readonly Argument[];
  readonly etcdArgs: readonly Argument[];
  readonly snapshots: SnapshotSettings;
  readonly reset: { readonly isRequested: boolean; readonly from: string | undefined };
}

export interface SnapshotSettings {
  readonly isScheduled: boolean;
  readonly schedule: string;
  readonly retention: number;
  /** start of the names */
  readonly name: string;
  readonly directory: string;
  /** object store that they are copied to */
  readonly bucket: BucketAccess | undefined;
}

const shared: readonly string[] = [
  ['cloud-provider-config', 'cloud-provider-name', 'container-runtime-endpoint', 'data-dir', 'debug', 'kubelet-arg'],
  ['image-credential-provider-bin-dir', 'image-credential-provider-config', 'kube-proxy-arg', 'kube-proxy-extra-env'],
  ['kube-proxy-extra-mount', 'kube-proxy-image', 'kubelet-path', 'lb-server-port', 'node-external-ip', 'node-ip'],
  ['node-label', 'node-name', 'node-taint', 'pause-image', 'pod-security-admission-config-file', 'private-registry'],
  ['profile', 'protect-kernel-defaults', 'resolv-conf', 'runtime-image', 'selinux', 'server', 'snapshotter', 'token'],
  ['system-default-registry', 'token-file'],
].flat();
const components = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'etcd', 'cloud-controller-manager'];
const ofServers: readonly string[] = [
  ...components.flatMap((name) => [`${name}-arg`, `${name}-image`, `${name}-extra-env`, `${name}-extra-mount`]),
  ...['advertise-address', 'agent-token', 'audit-policy-file', 'bind-address', 'cluster-cidr', 'cluster-dns', 'cni'],
  ...['cluster-domain', 'cluster-reset', 'cluster-reset-restore-path', 'datastore-cafile', 'datastore-certfile'],
  ...['datastore-endpoint', 'datastore-keyfile', 'disable', 'disable-cloud-controller', 'disable-kube-proxy'],
  ...['disable-scheduler', 'embedded-registry', 'etcd-disable-snapshots', 'etcd-expose-metrics', 'etcd-s3'],
  ...['etcd-s3-access-key', 'etcd-s3-bucket', 'etcd-s3-endpoint', 'etcd-s3-endpoint-ca', 'etcd-s3-folder'],
  ...['etcd-s3-region', 'etcd-s3-secret-key', 'etcd-s3-skip-ssl-verify', 'etcd-snapshot-dir', 'etcd-snapshot-name'],
  ...['etcd-snapshot-retention', 'etcd-snapshot-schedule-cron', 'ingress-controller', 'secrets-encryption-provider'],
  ...['service-cidr', 'service-node-port-range', 'supervisor-metrics', 'tls-san', 'write-kubeconfig-mode'],
];

/** Parses config.yaml like rke2: unknown keys cause a warning and are ignored. */
export function readConfig(
  machine: RunningMachine,
  role: 'server' | 'agent',
  { warn, flags = {} }: { warn: (text: string) => void; flags?: JsonObject },
): Rke2Config {
  const document = { ...documentIn(machine, configFile), ...flags };
  const known = new Set(role === 'server' ? [...shared, ...ofServers] : shared);
  for (const name of Object.keys(document)) {
    if (!known.has(name)) warn(`Unknown flag --${name} found in config.yaml, skipping`);
  }
  const text = (name: string): string | undefined => textOf(document[name]);
  const profile = text('profile');
  // containerd reads the private registries before anything else starts.
  documentIn(machine, text('private-registry') ?? registriesFile);
  return {
    dataDirectory: rke2DataDirectory(machine.disk) ?? '',
    nodeName: (text('node-name') ?? machine.hostname).toLowerCase(),
    token: text('token'),
    server: text('server'),
    clusterCidr: text('cluster-cidr') ?? '10.42.0.0/16',
    serviceCidr: text('service-cidr') ?? '10.43.0.0/16',
    clusterDomain: text('cluster-domain') ?? 'cluster.local',
    subjectNames: textsOf(document['tls-san']),
    networkPlugins: document['cni'] === undefined ? ['canal'] : textsOf(document['cni']),
    hasCloudController: document['disable-cloud-controller'] !== true,
    cloudProvider: text('cloud-provider-name'),
    hasScheduler: document['disable-scheduler'] !== true,
    datastore: text('datastore-endpoint'),
    profile,
    nodeLabels: textsOf(document['node-label']),
    nodeTaints: textsOf(document['node-taint']),
    kubeletArgs: argumentsOf(document['kubelet-arg']),
    apiServerArgs: argumentsOf(document['kube-apiserver-arg']),
    controllerManagerArgs: argumentsOf(document['kube-controller-manager-arg']),
    schedulerArgs: argumentsOf(document['kube-scheduler-arg']),
    etcdArgs: argumentsOf(document['etcd-arg']),
    snapshots: snapshotSettings(document, rke2DataDirectory(machine.disk) ?? ''),
    reset: { isRequested: isTrue(document['cluster-reset']), from: text('cluster-reset-restore-path') },
  };
}

const isTrue = (value: JsonValue | undefined): boolean => value === true || value === 'true';
const defaultRetention = 5;

function snapshotSettings(document: JsonObject, dataDirectory: string): SnapshotSettings {
  const text = (name: string): string | undefined => textOf(document[name]);
  return {
    isScheduled: !isTrue(document['etcd-disable-snapshots']),
    schedule: text('etcd-snapshot-schedule-cron') ?? '0 */12 * * *',
    retention: Number(text('etcd-snapshot-retention') ?? defaultRetention),
    name: text('etcd-snapshot-name') ?? 'etcd-snapshot',
    directory: text('etcd-snapshot-dir') ?? `${dataDirectory}/server/db/snapshots`,
    bucket: isTrue(document['etcd-s3'])
      ? {
          endpoint: text('etcd-s3-endpoint') ?? 's3.amazonaws.com',
          bucket: text('etcd-s3-bucket') ?? '',
          folder: text('etcd-s3-folder') ?? '',
          accessKey: text('etcd-s3-access-key') ?? '',
          secretKey: text('etcd-s3-secret-key') ?? '',
        }
      : undefined,
  };
}

function documentIn({ disk }: RunningMachine, file: string): JsonObject {
  const text = disk.read(file);
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw new Rke2Refusal(`failed to parse ${file}: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    });
  }
  if (value === null || value === undefined) return {};
  if (!isJsonObject(value)) throw new Rke2Refusal(`failed to parse ${file}: it is not a map`);
  return value;
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null || typeof value === 'object') return undefined;
  return String(value);
}

/** Reads a list, or a string with commas. */
function textsOf(value: JsonValue | undefined): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => textOf(item) ?? []);
  return (textOf(value) ?? '').split(',').filter((item) => item !== '');
}

function argumentsOf(value: JsonValue | undefined): Argument[] {
  const list = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return list.flatMap((item) => {
    const [, name, given] = /^(?:--)?([^=]+)(?:=([\s\S]*))?$/.exec(textOf(item) ?? '') ?? [];
    return name === undefined ? [] : [[name, given ?? 'true'] as const];
  });
}
