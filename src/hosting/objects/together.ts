import type { Container, Deployment, Volume } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { KineSpec, PlaneSpec } from '../spec.ts';
import { apiServerFiles, controllerManagerFiles } from './component-files.ts';
import { kineSocket, kineSocketDirectory } from './component-flags.ts';
import { apiServerConfigs, apiServerParts, controllerManagerParts, schedulerParts } from './components.ts';
import { mergeFlags } from './flags.ts';
import { egressSelector, noParts, type SidecarParts } from './konnectivity.ts';
import { checksumOf, metadataOf } from './metadata.ts';
import {
  containerSettings,
  placeOf,
  podBase,
  podLabels,
  type SecretFile,
  secretVolume,
  withTerminationMessage,
} from './pods.ts';

const pkiVolume = 'etc-kubernetes-pki';

/** Builds a Deployment whose Pods contain the whole control plane. */
export function togetherObjects(desired: PlaneSpec, facts: PlaneFacts): KubeObject[] {
  if (!planeEndpoint(desired, facts).known) return [];
  const { naming, pods } = desired;
  const files = uniqueFiles([...apiServerFiles(desired), ...controllerManagerFiles(desired)]);
  const kine = desired.dataStore.kind === 'kine' ? kineParts(desired, desired.dataStore) : noParts;
  const parts = [
    apiServerParts(desired, facts),
    schedulerParts(desired),
    controllerManagerParts(desired, pkiVolume),
    kine,
  ];
  const containers = parts.flatMap((part) => part.containers).map((container) => withUds(container, kine));
  const secrets = [...new Set([...files.map(({ secret }) => secret), ...parts.flatMap((part) => part.secrets)])].sort();
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(desired, naming.controlPlane, 'control-plane', pods.workloadMetadata),
    spec: {
      replicas: desired.replicas,
      selector: { matchLabels: { ...naming.selector('control-plane') } },
      // new Pods are up before old ones stop
      strategy: (pods.strategy as Deployment['spec']['strategy']) ?? {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: 0, maxSurge: '100%' },
      },
      template: {
        metadata: {
          labels: podLabels(desired, 'control-plane', secretLabels(desired, facts, secrets)),
          annotations: {
            ...pods.metadata?.annotations,
            'checksum/configmaps': checksumOf(
              [...apiServerConfigs(desired), ...egressSelector(desired)].map(({ metadata, data }) => [
                metadata.name,
                data,
              ]),
            ),
            ...storageAnnotations(desired, facts),
          },
        },
        spec: {
          ...podBase(pods),
          ...(pods.affinity && { affinity: pods.affinity }),
          topologySpreadConstraints: pods.topologySpreadConstraints
            ? [...pods.topologySpreadConstraints]
            : ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
                maxSkew: 1,
                topologyKey,
                whenUnsatisfiable: 'ScheduleAnyway',
                labelSelector: { matchLabels: { ...naming.selector('control-plane') } },
              })),
          ...(pods.securityContext && { securityContext: pods.securityContext }),
          ...((kine.containers.length > 0 || pods.initContainers) && {
            initContainers: [
              ...(desired.dataStore.kind === 'kine' ? kineInit(desired, desired.dataStore) : []),
              ...(pods.initContainers ?? []),
            ],
          }),
          containers: [...containers.map(withTerminationMessage), ...(pods.containers ?? [])],
          volumes: uniqueVolumes([
            secretVolume(pkiVolume, files),
            ...parts.flatMap((part) => part.volumes),
            ...(pods.volumes ?? []),
          ]),
        },
      },
    },
  };
  return [deployment];
}

/** One label per mounted Secret, which shows users which one caused a rollout. */
function secretLabels({ naming }: PlaneSpec, facts: PlaneFacts, secrets: readonly string[]): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const secret of secrets) {
    const checksum = facts.checksums.get(secret);
    if (checksum === undefined) continue;
    const name = secret.startsWith(`${naming.controlPlane}-`) ? secret.slice(naming.controlPlane.length + 1) : secret;
    // label names have a length limit
    labels[`component.kamaji.clastix.io/${name.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '')}`] = checksum;
  }
  return labels;
}

function storageAnnotations(desired: PlaneSpec, facts: PlaneFacts): Record<string, string> {
  const annotation = (key: string, secret: string | undefined): Record<string, string> => {
    const checksum = secret === undefined ? undefined : facts.checksums.get(secret);
    return checksum === undefined ? {} : { [`storage.kamaji.clastix.io/${key}`]: checksum };
  };
  return {
    ...annotation('config', desired.naming.secrets['datastore-config']?.name),
    ...annotation('certificate', desired.naming.secrets['datastore-client']?.name),
  };
}

/** Builds kine, which translates the etcd API for a SQL database. */
function kineParts(desired: PlaneSpec, store: KineSpec): SidecarParts {
  const config = placeOf(desired, 'datastore-config').name;
  const variable = (name: string) => ({ name, valueFrom: { secretKeyRef: { name: config, key: name } } });
  const tls = store.tls
    ? { 'ca-file': '/certs/ca.crt', 'cert-file': '/certs/server.crt', 'key-file': '/certs/server.key' }
    : {};
  const { args } = mergeFlags(
    { endpoint: kineEndpoint(store) },
    { 'listen-address': kineSocket, ...tls },
    desired.components.kine?.args,
  );
  return {
    containers: [
      {
        name: 'kine',
        image: desired.images.kine ?? '',
        imagePullPolicy: 'Always',
        command: ['/bin/kine'],
        args: [...args],
        env: ['DB_CONNECTION_STRING', 'DB_SCHEMA', 'DB_USER', 'DB_PASSWORD'].map(variable),
        ports: [{ name: 'server', containerPort: 2379, protocol: 'TCP' }],
        volumeMounts: [
          { name: 'kine-uds', mountPath: kineSocketDirectory },
          ...(store.tls ? [{ name: 'kine-certs', mountPath: '/certs' }] : []),
        ],
        ...containerSettings(desired.components.kine),
      },
    ],
    volumes: [
      { name: 'kine-uds', emptyDir: { medium: 'Memory' } },
      ...(store.tls
        ? [
            { name: 'kine-certs', emptyDir: { medium: 'Memory' } },
            {
              name: 'kine-config',
              secret: { secretName: placeOf(desired, 'datastore-client').name, defaultMode: 0o420 },
            },
          ]
        : []),
    ],
    mounts: [{ name: 'kine-uds', mountPath: kineSocketDirectory }],
    secrets: [config, ...(store.tls ? [placeOf(desired, 'datastore-client').name] : [])],
  };
}

/** Database address with variables that the kubelet expands from the data store Secret. */
function kineEndpoint({ driver }: KineSpec): string {
  switch (driver) {
    case 'MySQL':
      return 'mysql://$(DB_USER):$(DB_PASSWORD)@tcp($(DB_CONNECTION_STRING))/$(DB_SCHEMA)';
    case 'PostgreSQL':
      return 'postgres://$(DB_USER):$(DB_PASSWORD)@$(DB_CONNECTION_STRING)/$(DB_SCHEMA)';
    case 'NATS':
      return 'nats://$(DB_USER):$(DB_PASSWORD)@$(DB_CONNECTION_STRING)?bucket=$(DB_SCHEMA)&noEmbed';
  }
}

/** Copies the key with restricted permissions, because database clients refuse keys that others can read. */
function kineInit(desired: PlaneSpec, store: KineSpec): Container[] {
  if (!store.tls) return [];
  return [
    {
      name: 'chmod',
      image: desired.images.kine ?? '',
      imagePullPolicy: 'Always',
      command: ['sh', '-c', 'cp /kine/*.* /certs && chmod -R 600 /certs/*.*'],
      volumeMounts: [
        { name: 'kine-config', mountPath: '/kine', readOnly: true },
        { name: 'kine-certs', mountPath: '/certs' },
      ],
    },
  ];
}

function withUds(container: Container, kine: SidecarParts): Container {
  return container.name === 'kube-apiserver' && kine.mounts.length > 0
    ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), ...kine.mounts] }
    : container;
}

const uniqueFiles = (files: readonly SecretFile[]): SecretFile[] => [
  ...new Map(files.map((file) => [file.path, file])).values(),
];

const uniqueVolumes = (volumes: readonly Volume[]): Volume[] => [
  ...new Map(volumes.map((volume) => [volume.name, volume])).values(),
];
