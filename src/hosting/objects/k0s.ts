import type {
  ConfigMap,
  Container,
  PersistentVolumeClaim,
  PodSpec,
  Probe,
  StatefulSet,
  Volume,
  VolumeMount,
} from '../../api/index.ts';
import { formatYaml, type JsonObject, type KubeObject } from '../../machinery/index.ts';
import { planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { K0sSpec, PlaneSpec } from '../spec.ts';
import { isRotating, k0sConfig, k0sPki, k0sStartConfig } from './k0s-config.ts';
import { k0sIngressConfigs } from './k0s-ingress.ts';
import { monitoringConfigs, monitoringParts } from './k0s-monitoring.ts';
import { configVariable, entryScript } from './k0s-script.ts';
import { checksumOf, configMap, metadataOf } from './metadata.ts';
import {
  containerSettings,
  credentialFiles,
  podBase,
  podLabels,
  preferApart,
  type SecretFile,
  secretVolume,
  trustFile,
  withNumbers,
  withTerminationMessage,
} from './pods.ts';

const dataDirectory = '/var/lib/k0s';
const script = 'k0smotron-entrypoint.sh';
/** ports below this need a capability */
const firstFreePort = 1024;

/** Configuration of the controllers; empty until the API endpoint, which is part of it, is known. */
export function k0sConfigObjects(desired: PlaneSpec, facts: PlaneFacts): ConfigMap[] {
  const answer = planeEndpoint(desired, facts);
  if (!answer.known) return [];
  const { configs } = desired.naming;
  const { host, port } = answer.endpoint;
  return [
    configMap(desired, configs.k0s, 'cluster', { [configVariable]: formatYaml(k0sConfig(desired, facts)) }),
    configMap(desired, configs.entrypoint, 'entrypoint', { [script]: entryScript(desired), ...natsConfig(desired) }),
    configMap(desired, configs.endpoint, 'config', { 'endpoint.yaml': endpointManifest(host, port) }),
    ...k0sIngressConfigs(desired),
    ...monitoringConfigs(desired),
  ];
}

/** Tells network plugins the API endpoint in clusters without kube-proxy. */
function endpointManifest(host: string, port: number): string {
  return formatYaml({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'control-plane-endpoint', namespace: 'kube-system' },
    data: { apiServerHost: host, apiServerPort: String(port) },
  });
}

function natsConfig({ dataStore, replicas, naming }: PlaneSpec): Record<string, string> {
  if (dataStore.kind !== 'k0s' || dataStore.source.type !== 'nats') return {};
  const peers = Array.from(
    { length: replicas },
    (_, index) => `nats://${naming.controlPlane}-${index}.${natsService(naming.controlPlane)}:6222`,
  );
  const lines = [
    'listen: 127.0.0.1:4222',
    'jetstream { store_dir: /nats-data }',
    ...(replicas > 1
      ? [`cluster { name: ${naming.controlPlane}, listen: 0.0.0.0:6222, routes: [${peers.join(', ')}] }`]
      : []),
  ];
  return { 'nats.conf': `${lines.join('\n')}\n` };
}

const natsService = (plane: string): string => `${plane}-nats`;

/** Builds the StatefulSet of k0s controllers. */
export function k0sObjects(desired: PlaneSpec, facts: PlaneFacts): KubeObject[] {
  const answer = planeEndpoint(desired, facts);
  if (!answer.known || !desired.k0s) return [];
  return [...natsObjects(desired), controllers(desired, desired.k0s, facts)];
}

function natsObjects(desired: PlaneSpec): KubeObject[] {
  if (desired.dataStore.kind !== 'k0s' || desired.dataStore.source.type !== 'nats') return [];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: metadataOf(desired, natsService(desired.naming.controlPlane), 'control-plane'),
      spec: {
        type: 'ClusterIP',
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        selector: { ...desired.naming.selector('control-plane') },
        ports: [{ name: 'cluster', port: 6222, targetPort: 6222, protocol: 'TCP' }],
      },
    } as KubeObject,
  ];
}

function controllers(desired: PlaneSpec, k0s: K0sSpec, facts: PlaneFacts): StatefulSet {
  const { naming, pods } = desired;
  const selector = naming.selector('control-plane');
  const certificates = certificateFiles(desired, facts);
  const nats =
    desired.dataStore.kind === 'k0s' && desired.dataStore.source.type === 'nats' ? desired.dataStore.source : undefined;
  const volume = facts.controllerClaim ?? naming.controlPlane;
  const claims = claimTemplates(volume, k0s, nats);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadataOf(desired, naming.controlPlane, 'control-plane', pods.workloadMetadata),
    spec: {
      serviceName: nats ? natsService(naming.controlPlane) : naming.apiService,
      replicas: desired.replicas,
      ...(nats && { podManagementPolicy: 'Parallel' }),
      ...(k0s.persistence.type === 'pvc' && {
        // as for etcd, claims are deleted with the plane, not with the StatefulSet
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      }),
      selector: { matchLabels: { ...selector } },
      template: {
        metadata: {
          labels: podLabels(desired, 'control-plane', { 'cluster.x-k8s.io/control-plane': 'true' }),
          annotations: {
            ...pods.metadata?.annotations,
            ...(k0s.monitoring && {
              'prometheus.io/scrape': 'true',
              'prometheus.io/port': '8090',
              'prometheus.io/path': '/metrics',
            }),
            ...rollingChecksums(desired, facts, certificates),
          },
        },
        spec: podSpec(desired, k0s, certificates, { hasNats: nats !== undefined, volume }),
      },
      ...(claims.length > 0 && { volumeClaimTemplates: claims }),
    },
  };
}

function claimTemplates(
  volume: string,
  { persistence }: K0sSpec,
  nats: { readonly size: string; readonly storageClass?: string } | undefined,
): PersistentVolumeClaim[] {
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' };
  const templates: PersistentVolumeClaim[] = [];
  if (persistence.type === 'pvc') {
    const given = persistence.claim as Partial<PersistentVolumeClaim>;
    templates.push({
      ...claim,
      metadata: { ...given.metadata, name: volume },
      spec: { accessModes: ['ReadWriteOnce'], ...given.spec },
    });
  }
  if (nats) {
    templates.push({
      ...claim,
      metadata: { name: 'nats-data' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        ...(nats.storageClass !== undefined && { storageClassName: nats.storageClass }),
        resources: { requests: { storage: nats.size } },
      },
    });
  }
  return templates;
}

/** Checksums of everything that controllers read only at startup; a change restarts the Pods. */
function rollingChecksums(desired: PlaneSpec, facts: PlaneFacts, files: readonly SecretFile[]): Record<string, string> {
  const secrets = [...new Set(files.map(({ secret }) => secret))].sort();
  return {
    'checksum/config': checksumOf([k0sStartConfig(k0sConfig(desired, facts)), entryScript(desired)]),
    'checksum/secrets': checksumOf(secrets.map((secret) => [secret, facts.checksums.get(secret) ?? ''])),
  };
}

/** Files in /var/lib/k0s/pki that k0s must not generate itself. */
function certificateFiles(desired: PlaneSpec, facts: PlaneFacts): SecretFile[] {
  const pair = (stem: string) => ({ certificate: `${stem}.crt`, privateKey: `${stem}.key` });
  return [
    ...credentialFiles(desired, 'ca', pair('ca')),
    ...(isRotating(facts) ? [trustFile(desired, 'ca', 'ca-bundle.crt')] : []),
    ...credentialFiles(desired, 'apiserver', pair('apiserver')),
    ...credentialFiles(desired, 'sa', { certificate: 'sa.pub', privateKey: 'sa.key' }),
    ...credentialFiles(desired, 'front-proxy-ca', pair('front-proxy-ca')),
    ...(desired.dataStore.kind === 'own-etcd'
      ? [
          trustFile(desired, 'etcd-ca', 'etcd-ca.crt'),
          ...credentialFiles(desired, 'apiserver-etcd-client', pair('apiserver-etcd-client')),
        ]
      : []),
  ];
}

function podSpec(
  desired: PlaneSpec,
  k0s: K0sSpec,
  files: readonly SecretFile[],
  { hasNats, volume }: { readonly hasNats: boolean; readonly volume: string },
): PodSpec {
  const { naming, pods, images, components, exposure } = desired;
  const { persistence } = k0s;
  const isMighty = exposure.apiPort < firstFreePort || (exposure.konnectivityPort ?? firstFreePort) < firstFreePort;
  const extra = extraVolumes(desired, k0s);
  const monitoring = monitoringParts(desired);
  const data: VolumeMount = { name: volume, mountPath: dataDirectory };
  const source = desired.dataStore.kind === 'k0s' ? desired.dataStore.source : undefined;
  const status: Probe = { exec: { command: ['k0s', 'status'] } };
  const container: Container = {
    name: 'controller',
    image: images.k0s ?? '',
    imagePullPolicy: 'IfNotPresent',
    args: ['/bin/sh', '-c', `/${script}`],
    envFrom: [
      { configMapRef: { name: naming.configs.k0s } },
      ...(source?.type === 'kine-secret' ? [{ secretRef: { name: source.secretName } }] : []),
    ],
    ports: [
      { name: 'api', containerPort: exposure.apiPort, protocol: 'TCP' },
      ...(exposure.konnectivityPort === undefined
        ? []
        : [{ name: 'konnectivity', containerPort: exposure.konnectivityPort, protocol: 'TCP' }]),
    ],
    // frequent probes during startup, so that a running control plane is detected at once
    startupProbe: withNumbers(
      { ...status, periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 300 },
      components.k0s?.probes?.startup,
    ),
    readinessProbe: withNumbers(
      { ...status, periodSeconds: 10, timeoutSeconds: 10, failureThreshold: 15 },
      components.k0s?.probes?.readiness,
    ),
    livenessProbe: withNumbers(
      { ...status, periodSeconds: 10, timeoutSeconds: 10, failureThreshold: 10 },
      components.k0s?.probes?.liveness,
    ),
    volumeMounts: [
      data,
      { name: naming.configs.entrypoint, mountPath: `/${script}`, subPath: script },
      ...(hasNats
        ? [
            { name: naming.configs.entrypoint, mountPath: '/etc/k0s/nats.conf', subPath: 'nats.conf' },
            { name: 'nats-data', mountPath: '/nats-data' },
          ]
        : []),
      ...extra.mounts,
    ],
    ...containerSettings(components.k0s),
  };
  return {
    ...podBase(pods),
    affinity: pods.affinity ?? preferApart({ app: 'k0smotron', cluster: desired.identity.clusterName }),
    ...(pods.topologySpreadConstraints && { topologySpreadConstraints: [...pods.topologySpreadConstraints] }),
    ...((pods.securityContext || isMighty) && {
      securityContext: {
        ...pods.securityContext,
        ...(isMighty && { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] }),
      },
    }),
    initContainers: [certificateInit(images.k0s ?? '', data), ...(pods.initContainers ?? [])],
    containers: [withTerminationMessage(container), ...monitoring.containers, ...(pods.containers ?? [])],
    volumes: [
      ...(persistence.type === 'emptyDir' ? [{ name: volume, emptyDir: {} }] : []),
      ...(persistence.type === 'hostPath' ? [{ name: volume, hostPath: { path: persistence.path } }] : []),
      secretVolume('certs-init', files),
      { name: naming.configs.entrypoint, configMap: { name: naming.configs.entrypoint, defaultMode: 0o744 } },
      ...extra.volumes,
      ...monitoring.volumes,
      ...(pods.volumes ?? []),
    ],
  };
}

/** Deletes generated files: k0s keeps existing ones, even for former names or CAs. */
function certificateInit(image: string, data: VolumeMount): Container {
  return {
    name: 'certs-init',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: [
      '/bin/sh',
      '-c',
      `mkdir -p ${k0sPki} && rm -f ${k0sPki}/*.crt ${k0sPki}/*.key && cp /certs-init/*.* ${k0sPki}/`,
    ],
    volumeMounts: [data, { name: 'certs-init', mountPath: '/certs-init', readOnly: true }],
  };
}

/** Volumes with manifests that k0s applies to the workload cluster, and the user's further mounts. */
function extraVolumes(desired: PlaneSpec, k0s: K0sSpec): { volumes: Volume[]; mounts: VolumeMount[] } {
  const { configs } = desired.naming;
  const ours = [configs.endpoint, ...k0sIngressConfigs(desired).map(({ metadata }) => metadata.name ?? '')];
  const manifests: Volume[] = [
    ...ours.map((name) => ({ name, configMap: { name } })),
    // k0smotron writes those of its own into the user's spec
    ...k0s.manifests.filter(({ name }) => !ours.includes(name)).map((volume) => ({ ...volume })),
  ];
  const volumes: Volume[] = [...manifests];
  const mounts: VolumeMount[] = manifests.map(({ name }) => ({
    name,
    mountPath: `${dataDirectory}/manifests/${name}`,
    readOnly: true,
  }));
  for (const [index, { path, readOnly, source }] of k0s.mounts.entries()) {
    const name = `mount-${index}`;
    volumes.push({ name, ...(source as JsonObject) });
    // Kubernetes mounts these read-only
    const isFixed = source['configMap'] !== undefined || source['secret'] !== undefined;
    mounts.push({ name, mountPath: path, ...((readOnly || isFixed) && { readOnly: true }) });
  }
  return { volumes, mounts };
}
