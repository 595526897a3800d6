import type { Container, EnvVar, Probe, Service, StatefulSet } from '../../api/index.ts';
import { type KubeObject, quantityValue } from '../../machinery/index.ts';
import { etcdClientPort, etcdMetricsPort, etcdPeerPort } from '../etcd/members.ts';
import { initialClusterKey, initialClusterStateKey, settingsData } from '../etcd/settings.ts';
import type { EtcdSetFacts, PlaneFacts } from '../facts.ts';
import type { EtcdClusterSpec, OwnEtcdSpec } from '../spec.ts';
import { mergeFlags } from './flags.ts';
import { checksumOf, configMap, metadataOf } from './metadata.ts';
import {
  containerSettings,
  credentialFiles,
  podBase,
  podLabels,
  preferApart,
  restrictedContainer,
  restrictedPod,
  type SecretFile,
  secretVolume,
  spreadOverNodes,
  trustFile,
  withTerminationMessage,
} from './pods.ts';

interface EtcdPlaces {
  readonly dataDirectory: string;
  readonly certificates: string;
}

const places: Readonly<Record<'k0smotron' | 'other', EtcdPlaces>> = {
  k0smotron: { dataDirectory: '/var/lib/k0s/etcd', certificates: '/var/lib/k0s/pki/etcd' },
  other: { dataDirectory: '/var/lib/etcd', certificates: '/etc/etcd/pki' },
};

const placesOf = ({ naming }: EtcdClusterSpec): EtcdPlaces =>
  places[naming.provider === 'k0smotron' ? 'k0smotron' : 'other'];

/** Builds the objects of a plane's etcd for its current membership; empty before the first step. */
export function etcdObjects(desired: EtcdClusterSpec, facts: Pick<PlaneFacts, 'etcd' | 'trust'>): KubeObject[] {
  const { dataStore: store } = desired;
  if (store.kind !== 'own-etcd' || !facts.etcd) return [];
  return [
    configMap(desired, desired.naming.etcdSettings, 'etcd', settingsData(facts.etcd.settings)),
    ...etcdServices(desired),
    etcdStatefulSet(desired, store, facts.etcd, facts.trust['etcd-ca']),
  ];
}

export function etcdServices(desired: EtcdClusterSpec): Service[] {
  const { naming } = desired;
  const service = (name: string, spec: Service['spec']): Service => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(desired, name, 'etcd'),
    spec: { type: 'ClusterIP', selector: { ...naming.selector('etcd') }, ...spec },
  });
  const port = (name: string, number: number) => ({ name, port: number, targetPort: number, protocol: 'TCP' });
  const client = port('client', etcdClientPort);
  return [
    service(naming.etcdService, {
      clusterIP: 'None',
      // members must find each other before they are ready
      publishNotReadyAddresses: true,
      ports: [client, port('peer', etcdPeerPort), port('metrics', etcdMetricsPort)],
    }),
    ...(naming.etcdClientService === naming.etcdService
      ? []
      : [service(naming.etcdClientService, { ports: [client, port('metrics', etcdMetricsPort)] })]),
  ];
}

function etcdStatefulSet(
  desired: EtcdClusterSpec,
  store: OwnEtcdSpec,
  facts: EtcdSetFacts,
  trust: string | undefined,
): StatefulSet {
  const { naming, pods, components } = desired;
  const isK0s = naming.provider === 'k0smotron';
  const selector = naming.selector('etcd');
  const files: SecretFile[] = [
    trustFile(desired, 'etcd-ca', 'ca.crt'),
    ...credentialFiles(desired, 'etcd-server', { certificate: 'server.crt', privateKey: 'server.key' }),
    ...credentialFiles(desired, 'etcd-peer', { certificate: 'peer.crt', privateKey: 'peer.key' }),
  ];
  const { priorityClassName } = components.etcd ?? {};
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadataOf(desired, naming.etcd, 'etcd'),
    spec: {
      serviceName: naming.etcdService,
      replicas: facts.replicas,
      // bootstrapping members wait for each other
      podManagementPolicy: 'Parallel',
      // restarts are decided step by step, because a StatefulSet does not know about quorum
      updateStrategy: { type: 'OnDelete' },
      // deleting the StatefulSet by mistake must not delete data; claims are deleted by name when the plane is removed
      persistentVolumeClaimRetentionPolicy: {
        whenDeleted: store.deleteVolumes && store.claimsFollowSet === true ? 'Delete' : 'Retain',
        whenScaled: 'Retain',
      },
      selector: { matchLabels: { ...selector } },
      template: {
        metadata: {
          labels: podLabels(desired, 'etcd'),
          annotations: {
            ...pods.metadata?.annotations,
            // etcd reloads its certificates on every handshake, but the CA only at startup
            ...(trust !== undefined && { 'checksum/trust': checksumOf(trust) }),
          },
        },
        spec: {
          ...podBase(pods),
          ...(priorityClassName !== undefined && { priorityClassName }),
          securityContext: pods.securityContext ?? (isK0s ? { fsGroup: 1001 } : restrictedPod),
          affinity: pods.affinity ?? preferApart(selector),
          ...etcdSpread(desired, isK0s),
          // the last log lines determine the handling of a failed member
          containers: [withTerminationMessage(etcdContainer(desired, store, facts.image, isK0s))],
          volumes: [secretVolume('certificates', files)],
        },
      },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: naming.etcdVolume, labels: { ...selector } },
          spec: {
            accessModes: ['ReadWriteOnce'],
            ...(store.storage.storageClass !== undefined && { storageClassName: store.storage.storageClass }),
            // templates are immutable; growing claims are resized one by one
            resources: { requests: { storage: facts.volumeSize ?? store.storage.size } },
          },
        },
      ],
    },
  };
}

function etcdSpread({ pods, naming }: EtcdClusterSpec, isK0s: boolean) {
  const wanted = pods.topologySpreadConstraints;
  if (wanted) return { topologySpreadConstraints: [...wanted] };
  return isK0s ? {} : { topologySpreadConstraints: spreadOverNodes(naming.selector('etcd')) };
}

function etcdContainer(desired: EtcdClusterSpec, store: OwnEtcdSpec, image: string, isK0s: boolean): Container {
  const { naming, components } = desired;
  const { dataDirectory, certificates } = placesOf(desired);
  const fromSettings = (name: string): EnvVar => ({
    name,
    valueFrom: { configMapKeyRef: { name: naming.etcdSettings, key: name } },
  });
  const health = (path: string): Probe => ({ httpGet: { path, port: etcdMetricsPort, scheme: 'HTTP' } });
  // /health exists in every release; livez and readyz were added later
  const ready = health(isK0s ? '/health' : '/readyz');
  return {
    name: 'etcd',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['etcd'],
    args: [...etcdArgs(desired, store)],
    env: [
      { name: 'ETCD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      fromSettings(initialClusterKey),
      fromSettings(initialClusterStateKey),
    ],
    ports: [
      { name: 'client', containerPort: etcdClientPort },
      { name: 'peer', containerPort: etcdPeerPort },
      { name: 'metrics', containerPort: etcdMetricsPort },
    ],
    startupProbe: { ...ready, periodSeconds: 1, timeoutSeconds: 15, failureThreshold: 240 },
    readinessProbe: { ...ready, periodSeconds: isK0s ? 5 : 1, timeoutSeconds: 5, failureThreshold: 3 },
    ...(!isK0s && {
      livenessProbe: { ...health('/livez'), periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 },
    }),
    volumeMounts: [
      { name: naming.etcdVolume, mountPath: dataDirectory },
      { name: 'certificates', mountPath: certificates, readOnly: true },
    ],
    ...(!isK0s && { securityContext: { ...restrictedContainer, capabilities: { drop: ['ALL'] } } }),
    ...containerSettings(components.etcd),
  };
}

function etcdArgs(desired: EtcdClusterSpec, store: OwnEtcdSpec): readonly string[] {
  const { naming, identity, components } = desired;
  const { dataDirectory, certificates } = placesOf(desired);
  const own = `https://$(ETCD_NAME).${naming.etcdService}.${identity.namespace}.svc`;
  const isK0s = naming.provider === 'k0smotron';
  const quota = quotaBytes(desired, store);
  return mergeFlags(
    {
      'data-dir': dataDirectory,
      'listen-client-urls': `https://0.0.0.0:${etcdClientPort}`,
      'listen-peer-urls': `https://0.0.0.0:${etcdPeerPort}`,
      'listen-metrics-urls': `http://0.0.0.0:${etcdMetricsPort}`,
      'advertise-client-urls': `${own}:${etcdClientPort}`,
      'initial-advertise-peer-urls': `${own}:${etcdPeerPort}`,
      'initial-cluster-token': isK0s ? naming.etcd : 'etcd-cluster',
      'client-cert-auth': 'true',
      'trusted-ca-file': `${certificates}/ca.crt`,
      'cert-file': `${certificates}/server.crt`,
      'key-file': `${certificates}/server.key`,
      'peer-client-cert-auth': 'true',
      'peer-trusted-ca-file': `${certificates}/ca.crt`,
      'peer-cert-file': `${certificates}/peer.crt`,
      'peer-key-file': `${certificates}/peer.key`,
    },
    {
      'auto-compaction-mode': 'periodic',
      'auto-compaction-retention': isK0s ? '5m' : '72h',
      'snapshot-count': '10000',
      'tls-min-version': 'TLS1.2',
      'enable-pprof': 'false',
      ...(quota !== undefined && { 'quota-backend-bytes': String(quota) }),
    },
    components.etcd?.args,
  ).args;
}

/** Quota of a member's file; k0smotron uses etcd's default. */
export function quotaBytes({ naming }: EtcdClusterSpec, store: OwnEtcdSpec): number | undefined {
  return naming.provider === 'k0smotron' ? undefined : Math.floor(quantityValue(store.storage.size) * 0.9);
}
