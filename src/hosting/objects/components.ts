import type { ConfigMap, Container, Probe, Volume } from '../../api/index.ts';
import { formatYaml } from '../../machinery/index.ts';
import type { PlaneFacts } from '../facts.ts';
import type { ComponentName, PlaneSpec, ProbeSpecs } from '../spec.ts';
import { auditRelay } from './audit-relay.ts';
import {
  auditDirectory,
  auditWebhookDirectory,
  authenticationDirectory,
  encryptionDirectory,
  encryptionFile,
  kubeconfigVolume,
  pkiDirectory,
} from './component-files.ts';
import { apiServerArgs, apiTargetPort, controllerManagerArgs, schedulerArgs } from './component-flags.ts';
import { konnectivityServer, noParts, type SidecarParts } from './konnectivity.ts';
import { configMap } from './metadata.ts';
import { containerSettings, restrictedContainer, withNumbers } from './pods.ts';

export const schedulerPort = 10259;
export const controllerManagerPort = 10257;

/** ConfigMaps with configuration files of the API server. */
export function apiServerConfigs(desired: PlaneSpec): ConfigMap[] {
  const { audit, authentication } = desired.apiServer;
  const { configs } = desired.naming;
  return [
    ...(authentication
      ? [configMap(desired, configs.authentication, 'config', { 'authentication.yaml': formatYaml(authentication) })]
      : []),
    ...(audit ? [configMap(desired, configs.audit, 'config', { 'policy.yaml': formatYaml(audit.policy) })] : []),
  ];
}

/** Builds the API server container and its sidecars. */
export function apiServerParts(desired: PlaneSpec, facts: PlaneFacts): SidecarParts {
  const { images, components } = desired;
  const component = components.apiServer;
  const konnectivity = konnectivityServer(desired);
  const files = configVolumes(desired);
  const relay = auditRelay(desired);
  const port = apiTargetPort(desired);
  const container: Container = {
    name: 'kube-apiserver',
    image: images.apiServer ?? '',
    imagePullPolicy: pullPolicy(desired),
    command: ['kube-apiserver'],
    args: [...apiServerArgs(desired, facts).args],
    ports: [{ name: 'api', containerPort: port, protocol: 'TCP' }],
    ...probes(desired, 'apiServer', port, {
      startup: desired.layout === 'together' ? '/livez' : '/readyz',
      readiness: '/readyz',
      liveness: '/livez',
    }),
    volumeMounts: [
      { name: 'etc-kubernetes-pki', mountPath: pkiDirectory, readOnly: true },
      ...konnectivity.mounts,
      ...files.mounts,
      ...(component?.volumeMounts ?? []),
    ],
    ...hardened(desired, apiServerCapabilities),
    ...containerSettings(component),
  };
  return {
    containers: [container, ...konnectivity.containers, ...relay.containers],
    volumes: [...konnectivity.volumes, ...files.volumes, ...relay.volumes, ...(component?.volumes ?? [])],
    mounts: [],
    secrets: [...konnectivity.secrets, ...files.secrets],
  };
}

function configVolumes({ apiServer, naming }: PlaneSpec): SidecarParts {
  const volumes: Volume[] = [];
  const mounts: { name: string; mountPath: string; readOnly: true }[] = [];
  const secrets: string[] = [];
  const add = (volume: Volume, mountPath: string): void => {
    volumes.push(volume);
    mounts.push({ name: volume.name, mountPath, readOnly: true });
    const secret = volume.secret?.secretName;
    if (secret !== undefined) secrets.push(secret);
  };
  if (apiServer.authentication) {
    add({ name: 'authentication', configMap: { name: naming.configs.authentication } }, authenticationDirectory);
  }
  if (apiServer.audit) {
    add({ name: 'audit', configMap: { name: naming.configs.audit } }, auditDirectory);
    if (apiServer.audit.webhook) {
      add(
        {
          name: 'audit-webhook',
          secret: {
            secretName: apiServer.audit.webhook.secretName,
            items: [{ key: 'kubeconfig', path: 'kubeconfig' }],
          },
        },
        auditWebhookDirectory,
      );
    }
  }
  if (apiServer.encryptionAtRest) {
    add(
      {
        name: 'encryption',
        secret: { secretName: naming.encryptionKeys, items: [{ key: encryptionFile, path: encryptionFile }] },
      },
      encryptionDirectory,
    );
  }
  return { ...noParts, volumes, mounts, secrets };
}

export function controllerManagerParts(desired: PlaneSpec, pkiVolume: string): SidecarParts {
  const kubeconfig = kubeconfigVolume(desired, 'controller-manager-kubeconfig');
  const component = desired.components.controllerManager;
  return {
    containers: [
      {
        name: 'kube-controller-manager',
        image: desired.images.controllerManager ?? '',
        imagePullPolicy: pullPolicy(desired),
        command: ['kube-controller-manager'],
        args: [...controllerManagerArgs(desired, kubeconfig.path).args],
        ports: [{ name: 'controller', containerPort: controllerManagerPort, protocol: 'TCP' }],
        ...probes(desired, 'controllerManager', controllerManagerPort, healthz),
        volumeMounts: [
          { name: pkiVolume, mountPath: pkiDirectory, readOnly: true },
          kubeconfig.mount,
          ...(component?.volumeMounts ?? []),
        ],
        ...hardened(desired),
        ...containerSettings(component),
      },
    ],
    volumes: [kubeconfig.volume, ...(component?.volumes ?? [])],
    mounts: [],
    secrets: [kubeconfig.secret],
  };
}

export function schedulerParts(desired: PlaneSpec): SidecarParts {
  const kubeconfig = kubeconfigVolume(desired, 'scheduler-kubeconfig');
  const component = desired.components.scheduler;
  return {
    containers: [
      {
        name: 'kube-scheduler',
        image: desired.images.scheduler ?? '',
        imagePullPolicy: pullPolicy(desired),
        command: ['kube-scheduler'],
        args: [...schedulerArgs(desired, kubeconfig.path).args],
        ports: [{ name: 'scheduler', containerPort: schedulerPort, protocol: 'TCP' }],
        ...probes(desired, 'scheduler', schedulerPort, healthz),
        volumeMounts: [kubeconfig.mount, ...(component?.volumeMounts ?? [])],
        ...hardened(desired),
        ...containerSettings(component),
      },
    ],
    volumes: [kubeconfig.volume, ...(component?.volumes ?? [])],
    mounts: [],
    secrets: [kubeconfig.secret],
  };
}

const pullPolicy = ({ layout }: PlaneSpec): string => (layout === 'together' ? 'Always' : 'IfNotPresent');

/**
 * The binary in the official image has this file capability: without it in the bounding set, exec fails, whatever the
 * port.
 */
const apiServerCapabilities: readonly string[] = ['NET_BIND_SERVICE'];

/** Restricts containers in Pods that only Capstan defines. */
function hardened({ layout }: PlaneSpec, capabilities: readonly string[] = []): Partial<Container> {
  if (layout !== 'hardened') return {};
  return {
    securityContext: {
      ...restrictedContainer,
      capabilities: { drop: ['ALL'], ...(capabilities.length > 0 && { add: [...capabilities] }) },
    },
  };
}

interface ProbePaths {
  readonly startup: string;
  readonly readiness: string;
  readonly liveness: string;
}

/** the only path that controller managers and schedulers of all versions answer, even while waiting for leadership */
const healthz: ProbePaths = { startup: '/healthz', readiness: '/healthz', liveness: '/healthz' };

function probes(desired: PlaneSpec, name: ComponentName, port: number, paths: ProbePaths): Partial<Container> {
  const wanted: ProbeSpecs = desired.components[name]?.probes ?? {};
  const get = (path: string): Probe => ({ httpGet: { path, port, scheme: 'HTTPS' } });
  if (desired.layout === 'together') {
    const numbers = {
      initialDelaySeconds: 0,
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    };
    return {
      livenessProbe: withNumbers({ ...get(paths.liveness), ...numbers }, wanted.liveness),
      readinessProbe: withNumbers({ ...get(paths.readiness), ...numbers }, wanted.readiness),
      // probe every second during startup, so that a running control plane is detected at once
      startupProbe: withNumbers(
        { ...get(paths.startup), ...numbers, periodSeconds: 1, failureThreshold: 60 },
        wanted.startup,
      ),
    };
  }
  return {
    startupProbe: withNumbers(
      { ...get(paths.startup), periodSeconds: 1, timeoutSeconds: 15, failureThreshold: 240 },
      wanted.startup,
    ),
    readinessProbe: withNumbers(
      { ...get(paths.readiness), periodSeconds: 1, timeoutSeconds: 15, failureThreshold: 3 },
      wanted.readiness,
    ),
    livenessProbe: withNumbers(
      { ...get(paths.liveness), periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 },
      wanted.liveness,
    ),
  };
}
