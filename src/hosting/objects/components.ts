import type { ConfigMap, Container, Probe, Volume } from '../../api/index.ts';
import { formatYaml } from '../../machinery/index.ts';
import type { PlaneFacts } from '../facts.ts';
import type { ComponentName, PlaneWish, ProbeWishes } from '../wish.ts';
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

/** Configuration files of the API server that are no secrets. */
export function apiServerConfigs(wish: PlaneWish): ConfigMap[] {
  const { audit, authentication } = wish.apiServer;
  const { configs } = wish.naming;
  return [
    ...(authentication
      ? [configMap(wish, configs.authentication, 'config', { 'authentication.yaml': formatYaml(authentication) })]
      : []),
    ...(audit ? [configMap(wish, configs.audit, 'config', { 'policy.yaml': formatYaml(audit.policy) })] : []),
  ];
}

/** The API server and what lives beside it. */
export function apiServerParts(wish: PlaneWish, facts: PlaneFacts): SidecarParts {
  const { images, components } = wish;
  const component = components.apiServer;
  const konnectivity = konnectivityServer(wish);
  const files = configVolumes(wish);
  const relay = auditRelay(wish);
  const port = apiTargetPort(wish);
  const container: Container = {
    name: 'kube-apiserver',
    image: images.apiServer ?? '',
    imagePullPolicy: pullPolicy(wish),
    command: ['kube-apiserver'],
    args: [...apiServerArgs(wish, facts).args],
    ports: [{ name: 'api', containerPort: port, protocol: 'TCP' }],
    ...probes(wish, 'apiServer', port, {
      startup: wish.layout === 'together' ? '/livez' : '/readyz',
      readiness: '/readyz',
      liveness: '/livez',
    }),
    volumeMounts: [
      { name: 'etc-kubernetes-pki', mountPath: pkiDirectory, readOnly: true },
      ...konnectivity.mounts,
      ...files.mounts,
      ...(component?.volumeMounts ?? []),
    ],
    ...hardened(wish, port < 1024),
    ...containerSettings(component),
  };
  return {
    containers: [container, ...konnectivity.containers, ...relay.containers],
    volumes: [...konnectivity.volumes, ...files.volumes, ...relay.volumes, ...(component?.volumes ?? [])],
    mounts: [],
    secrets: [...konnectivity.secrets, ...files.secrets],
  };
}

function configVolumes({ apiServer, naming }: PlaneWish): SidecarParts {
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

export function controllerManagerParts(wish: PlaneWish, pkiVolume: string): SidecarParts {
  const kubeconfig = kubeconfigVolume(wish, 'controller-manager-kubeconfig');
  const component = wish.components.controllerManager;
  return {
    containers: [
      {
        name: 'kube-controller-manager',
        image: wish.images.controllerManager ?? '',
        imagePullPolicy: pullPolicy(wish),
        command: ['kube-controller-manager'],
        args: [...controllerManagerArgs(wish, kubeconfig.path).args],
        ports: [{ name: 'controller', containerPort: controllerManagerPort, protocol: 'TCP' }],
        ...probes(wish, 'controllerManager', controllerManagerPort, healthz),
        volumeMounts: [
          { name: pkiVolume, mountPath: pkiDirectory, readOnly: true },
          kubeconfig.mount,
          ...(component?.volumeMounts ?? []),
        ],
        ...hardened(wish, false),
        ...containerSettings(component),
      },
    ],
    volumes: [kubeconfig.volume, ...(component?.volumes ?? [])],
    mounts: [],
    secrets: [kubeconfig.secret],
  };
}

export function schedulerParts(wish: PlaneWish): SidecarParts {
  const kubeconfig = kubeconfigVolume(wish, 'scheduler-kubeconfig');
  const component = wish.components.scheduler;
  return {
    containers: [
      {
        name: 'kube-scheduler',
        image: wish.images.scheduler ?? '',
        imagePullPolicy: pullPolicy(wish),
        command: ['kube-scheduler'],
        args: [...schedulerArgs(wish, kubeconfig.path).args],
        ports: [{ name: 'scheduler', containerPort: schedulerPort, protocol: 'TCP' }],
        ...probes(wish, 'scheduler', schedulerPort, healthz),
        volumeMounts: [kubeconfig.mount, ...(component?.volumeMounts ?? [])],
        ...hardened(wish, false),
        ...containerSettings(component),
      },
    ],
    volumes: [kubeconfig.volume, ...(component?.volumes ?? [])],
    mounts: [],
    secrets: [kubeconfig.secret],
  };
}

const pullPolicy = ({ layout }: PlaneWish): string => (layout === 'together' ? 'Always' : 'IfNotPresent');

/** Where Pods are ours alone they run with nothing they do not need. */
function hardened({ layout }: PlaneWish, bindsLowPort: boolean): Partial<Container> {
  if (layout !== 'hardened') return {};
  return {
    securityContext: {
      ...restrictedContainer,
      capabilities: { drop: ['ALL'], ...(bindsLowPort && { add: ['NET_BIND_SERVICE'] }) },
    },
  };
}

interface ProbePaths {
  readonly startup: string;
  readonly readiness: string;
  readonly liveness: string;
}

/** the one path that controller managers and schedulers of every version answer, also while they wait to lead */
const healthz: ProbePaths = { startup: '/healthz', readiness: '/healthz', liveness: '/healthz' };

function probes(wish: PlaneWish, name: ComponentName, port: number, paths: ProbePaths): Partial<Container> {
  const wished: ProbeWishes = wish.components[name]?.probes ?? {};
  const get = (path: string): Probe => ({ httpGet: { path, port, scheme: 'HTTPS' } });
  if (wish.layout === 'together') {
    const numbers = {
      initialDelaySeconds: 0,
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    };
    return {
      livenessProbe: withNumbers({ ...get(paths.liveness), ...numbers }, wished.liveness),
      readinessProbe: withNumbers({ ...get(paths.readiness), ...numbers }, wished.readiness),
      // nobody is to wait ten seconds for a control plane that is up
      startupProbe: withNumbers(
        { ...get(paths.startup), ...numbers, periodSeconds: 1, failureThreshold: 60 },
        wished.startup,
      ),
    };
  }
  return {
    startupProbe: withNumbers(
      { ...get(paths.startup), periodSeconds: 1, timeoutSeconds: 15, failureThreshold: 240 },
      wished.startup,
    ),
    readinessProbe: withNumbers(
      { ...get(paths.readiness), periodSeconds: 1, timeoutSeconds: 15, failureThreshold: 3 },
      wished.readiness,
    ),
    livenessProbe: withNumbers(
      { ...get(paths.liveness), periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 },
      wished.liveness,
    ),
  };
}
