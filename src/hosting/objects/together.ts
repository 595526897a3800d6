import type { Container, Deployment, Volume } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { KineWish, PlaneWish } from '../wish.ts';
import { apiServerFiles, controllerManagerFiles } from './component-files.ts';
import { kineSocket, kineSocketDirectory } from './component-flags.ts';
import { apiServerConfigs, apiServerParts, controllerManagerParts, schedulerParts } from './components.ts';
import { mergeFlags } from './flags.ts';
import { egressSelector, noParts, type SidecarParts } from './konnectivity.ts';
import { checksumOf, metadataOf } from './metadata.ts';
import { containerSettings, placeOf, podBase, podLabels, type SecretFile, secretVolume, tellingWhy } from './pods.ts';

const pkiVolume = 'etc-kubernetes-pki';

/** One Deployment whose Pods hold the whole control plane. */
export function togetherObjects(wish: PlaneWish, facts: PlaneFacts): KubeObject[] {
  if (!planeEndpoint(wish, facts).known) return [];
  const { naming, pods } = wish;
  const files = uniqueFiles([...apiServerFiles(wish), ...controllerManagerFiles(wish)]);
  const kine = wish.dataStore.kind === 'kine' ? kineParts(wish, wish.dataStore) : noParts;
  const parts = [apiServerParts(wish, facts), schedulerParts(wish), controllerManagerParts(wish, pkiVolume), kine];
  const containers = parts.flatMap((part) => part.containers).map((container) => withUds(container, kine));
  const secrets = [...new Set([...files.map(({ secret }) => secret), ...parts.flatMap((part) => part.secrets)])].sort();
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(wish, naming.controlPlane, 'control-plane', pods.workloadMetadata),
    spec: {
      replicas: wish.replicas,
      selector: { matchLabels: { ...naming.selector('control-plane') } },
      // the new ones are up before the old ones go
      strategy: (pods.strategy as Deployment['spec']['strategy']) ?? {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: 0, maxSurge: '100%' },
      },
      template: {
        metadata: {
          labels: podLabels(wish, 'control-plane', secretLabels(wish, facts, secrets)),
          annotations: {
            ...pods.metadata?.annotations,
            'checksum/configmaps': checksumOf(
              [...apiServerConfigs(wish), ...egressSelector(wish)].map(({ metadata, data }) => [metadata.name, data]),
            ),
            ...storageAnnotations(wish, facts),
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
              ...(wish.dataStore.kind === 'kine' ? kineInit(wish, wish.dataStore) : []),
              ...(pods.initContainers ?? []),
            ],
          }),
          containers: [...containers.map(tellingWhy), ...(pods.containers ?? [])],
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

/** Each mounted Secret has a label of its own, so that people see which one rolled the Pods. */
function secretLabels({ naming }: PlaneWish, facts: PlaneFacts, secrets: readonly string[]): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const secret of secrets) {
    const checksum = facts.checksums.get(secret);
    if (checksum === undefined) continue;
    const name = secret.startsWith(`${naming.controlPlane}-`) ? secret.slice(naming.controlPlane.length + 1) : secret;
    // label names are short
    labels[`component.kamaji.clastix.io/${name.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '')}`] = checksum;
  }
  return labels;
}

function storageAnnotations(wish: PlaneWish, facts: PlaneFacts): Record<string, string> {
  const annotation = (key: string, secret: string | undefined): Record<string, string> => {
    const checksum = secret === undefined ? undefined : facts.checksums.get(secret);
    return checksum === undefined ? {} : { [`storage.kamaji.clastix.io/${key}`]: checksum };
  };
  return {
    ...annotation('config', wish.naming.secrets['datastore-config']?.name),
    ...annotation('certificate', wish.naming.secrets['datastore-client']?.name),
  };
}

/** kine speaks etcd to the API server and SQL to a database. */
function kineParts(wish: PlaneWish, store: KineWish): SidecarParts {
  const config = placeOf(wish, 'datastore-config').name;
  const variable = (name: string) => ({ name, valueFrom: { secretKeyRef: { name: config, key: name } } });
  const tls = store.tls
    ? { 'ca-file': '/certs/ca.crt', 'cert-file': '/certs/server.crt', 'key-file': '/certs/server.key' }
    : {};
  const { args } = mergeFlags(
    { endpoint: kineEndpoint(store) },
    { 'listen-address': kineSocket, ...tls },
    wish.components.kine?.args,
  );
  return {
    containers: [
      {
        name: 'kine',
        image: wish.images.kine ?? '',
        imagePullPolicy: 'Always',
        command: ['/bin/kine'],
        args: [...args],
        env: ['DB_CONNECTION_STRING', 'DB_SCHEMA', 'DB_USER', 'DB_PASSWORD'].map(variable),
        ports: [{ name: 'server', containerPort: 2379, protocol: 'TCP' }],
        volumeMounts: [
          { name: 'kine-uds', mountPath: kineSocketDirectory },
          ...(store.tls ? [{ name: 'kine-certs', mountPath: '/certs' }] : []),
        ],
        ...containerSettings(wish.components.kine),
      },
    ],
    volumes: [
      { name: 'kine-uds', emptyDir: { medium: 'Memory' } },
      ...(store.tls
        ? [
            { name: 'kine-certs', emptyDir: { medium: 'Memory' } },
            { name: 'kine-config', secret: { secretName: placeOf(wish, 'datastore-client').name, defaultMode: 0o420 } },
          ]
        : []),
    ],
    mounts: [{ name: 'kine-uds', mountPath: kineSocketDirectory }],
    secrets: [config, ...(store.tls ? [placeOf(wish, 'datastore-client').name] : [])],
  };
}

/** What the kubelet expands from the Secret of the data store. */
function kineEndpoint({ driver }: KineWish): string {
  switch (driver) {
    case 'MySQL':
      return 'mysql://$(DB_USER):$(DB_PASSWORD)@tcp($(DB_CONNECTION_STRING))/$(DB_SCHEMA)';
    case 'PostgreSQL':
      return 'postgres://$(DB_USER):$(DB_PASSWORD)@$(DB_CONNECTION_STRING)/$(DB_SCHEMA)';
    case 'NATS':
      return 'nats://$(DB_USER):$(DB_PASSWORD)@$(DB_CONNECTION_STRING)?bucket=$(DB_SCHEMA)&noEmbed';
  }
}

/** Databases refuse a key others can read, which files of a Secret are. */
function kineInit(wish: PlaneWish, store: KineWish): Container[] {
  if (!store.tls) return [];
  return [
    {
      name: 'chmod',
      image: wish.images.kine ?? '',
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
