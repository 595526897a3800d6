import type { Container, Deployment, PodSpec } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { ComponentSpec, PlaneSpec } from '../spec.ts';
import { apiServerFiles, controllerManagerFiles } from './component-files.ts';
import { apiServerConfigs, apiServerParts, controllerManagerParts, schedulerParts } from './components.ts';
import { egressSelector, noParts } from './konnectivity.ts';
import { checksumOf, metadataOf } from './metadata.ts';
import {
  podBase,
  podLabels,
  restrictedContainer,
  restrictedPod,
  secretVolume,
  spreadOverNodes,
  withTerminationMessage,
} from './pods.ts';

const pkiVolume = 'etc-kubernetes-pki';

/** files of the controller manager, separate from the API server's, which must not see the CA key */
const managerPkiVolume = 'controller-manager-pki';

/** Builds a Deployment whose Pods run API server, controller manager and scheduler. */
export function hardenedObjects(desired: PlaneSpec, facts: PlaneFacts): KubeObject[] {
  if (!planeEndpoint(desired, facts).known) return [];
  const { naming, pods, components, replicas } = desired;
  const selector = naming.selector('control-plane');
  const manager = hasProgram(components.controllerManager)
    ? controllerManagerParts(desired, managerPkiVolume)
    : noParts;
  const scheduler = hasProgram(components.scheduler) ? schedulerParts(desired) : noParts;
  const parts = [apiServerParts(desired, facts), manager, scheduler];
  const files = apiServerFiles(desired);
  const managerFiles = manager === noParts ? [] : controllerManagerFiles(desired);
  const secrets = new Set([
    ...[...files, ...managerFiles].map(({ secret }) => secret),
    ...parts.flatMap((part) => part.secrets),
  ]);
  const configs = [...apiServerConfigs(desired), ...egressSelector(desired)];
  const { priorityClassName } = components.apiServer ?? {};
  const deployment: Deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(desired, naming.controlPlane, 'control-plane', pods.workloadMetadata),
    spec: {
      replicas,
      selector: { matchLabels: { ...selector } },
      strategy: (pods.strategy as Deployment['spec']['strategy']) ?? {
        type: 'RollingUpdate',
        // surge by all replicas: the new Pods then all run on other nodes than the old ones
        rollingUpdate: { maxUnavailable: 0, maxSurge: Math.max(1, replicas) },
      },
      template: {
        metadata: {
          labels: podLabels(desired, 'control-plane'),
          annotations: {
            ...pods.metadata?.annotations,
            'checksum/secrets': checksumOf(
              [...secrets].sort().map((secret) => [secret, facts.checksums.get(secret) ?? '']),
            ),
            'checksum/configmaps': checksumOf(configs.map(({ metadata, data }) => [metadata.name, data])),
          },
        },
        spec: {
          ...podBase(pods),
          ...(priorityClassName !== undefined && { priorityClassName }),
          securityContext: pods.securityContext ?? restrictedPod,
          affinity: pods.affinity ?? nearEtcd(desired),
          topologySpreadConstraints: pods.topologySpreadConstraints
            ? [...pods.topologySpreadConstraints]
            : spreadOverNodes(selector),
          ...(pods.initContainers && { initContainers: [...pods.initContainers] }),
          containers: [
            ...parts.flatMap(({ containers }) => containers.map(hardenedSidecar).map(withTerminationMessage)),
            ...(pods.containers ?? []),
          ],
          volumes: [
            secretVolume(pkiVolume, files),
            ...(managerFiles.length > 0 ? [secretVolume(managerPkiVolume, managerFiles)] : []),
            ...parts.flatMap(({ volumes }) => volumes),
            ...(pods.volumes ?? []),
          ],
        },
      },
    },
  };
  return [deployment];
}

/** Zero replicas leave out the component, because the user brings a different one. */
const hasProgram = (component: ComponentSpec | undefined): boolean => component?.replicas !== 0;

/** Lists user settings that have no effect because the components share a Pod, for a warning. */
export function settingsWithoutEffect({ layout, components, replicas }: PlaneSpec): string[] {
  if (layout !== 'hardened') return [];
  const { apiServer, controllerManager, scheduler } = components;
  const programs = [
    ['controllerManager', controllerManager],
    ['scheduler', scheduler],
  ] as const;
  return programs.flatMap(([name, component]) => [
    ...(component?.priorityClassName !== undefined && component.priorityClassName !== apiServer?.priorityClassName
      ? [`${name}.priorityClassName`]
      : []),
    ...(replicas > 0 && (component?.replicas ?? 1) > 1 && component?.replicas !== replicas ? [`${name}.replicas`] : []),
  ]);
}

const hardenedSidecar = (container: Container): Container =>
  container.securityContext
    ? container
    : { ...container, securityContext: { ...restrictedContainer, capabilities: { drop: ['ALL'] } } };

/** Prefers nodes with etcd members, which the API server talks to most. */
function nearEtcd({ naming }: PlaneSpec): NonNullable<PodSpec['affinity']> {
  return {
    podAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          podAffinityTerm: {
            topologyKey: 'topology.kubernetes.io/zone',
            labelSelector: { matchLabels: { ...naming.selector('etcd') } },
          },
        },
      ],
    },
  };
}
