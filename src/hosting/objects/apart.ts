import type { Container, Deployment, PodSpec } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';
import { planeEndpoint } from '../endpoint.ts';
import type { PlaneFacts } from '../facts.ts';
import type { PlanePart } from '../naming/types.ts';
import type { ComponentWish, PlaneWish } from '../wish.ts';
import { apiServerFiles, controllerManagerFiles } from './component-files.ts';
import { apiServerConfigs, apiServerParts, controllerManagerParts, schedulerParts } from './components.ts';
import { egressSelector, type SidecarParts } from './konnectivity.ts';
import { checksumOf, metadataOf } from './metadata.ts';
import {
  podBase,
  podLabels,
  restrictedContainer,
  restrictedPod,
  type SecretFile,
  secretVolume,
  spreadOverNodes,
  tellingWhy,
} from './pods.ts';

const pkiVolume = 'etc-kubernetes-pki';

/** A Deployment for each component. */
export function apartObjects(wish: PlaneWish, facts: PlaneFacts): KubeObject[] {
  if (!planeEndpoint(wish, facts).known) return [];
  const { naming, components, replicas } = wish;
  const isAsleep = replicas === 0;
  const count = (component: ComponentWish | undefined): number => (isAsleep ? 0 : (component?.replicas ?? 1));
  const managers = count(components.controllerManager);
  const schedulers = count(components.scheduler);
  const configs = [...apiServerConfigs(wish), ...egressSelector(wish)].map(({ metadata, data }) => [
    metadata.name,
    data,
  ]);
  return [
    deployment(wish, facts, {
      name: naming.controlPlane,
      part: 'control-plane',
      replicas,
      parts: apiServerParts(wish, facts),
      files: apiServerFiles(wish),
      configs,
      near: 'etcd',
      component: components.apiServer,
    }),
    deployment(wish, facts, {
      name: naming.controllerManager,
      part: 'controller-manager',
      replicas: managers,
      parts: controllerManagerParts(wish, pkiVolume, managers),
      files: controllerManagerFiles(wish),
      configs: [],
      near: 'control-plane',
      component: components.controllerManager,
    }),
    deployment(wish, facts, {
      name: naming.scheduler,
      part: 'scheduler',
      replicas: schedulers,
      parts: schedulerParts(wish, schedulers),
      files: [],
      configs: [],
      near: 'control-plane',
      component: components.scheduler,
    }),
  ];
}

interface DeploymentWish {
  readonly name: string;
  readonly part: PlanePart;
  readonly replicas: number;
  readonly parts: SidecarParts;
  readonly files: readonly SecretFile[];
  readonly configs: readonly unknown[];
  /** the part it talks to most */
  readonly near: PlanePart;
  readonly component: ComponentWish | undefined;
}

function deployment(wish: PlaneWish, facts: PlaneFacts, wanted: DeploymentWish): Deployment {
  const { naming, pods } = wish;
  const { part, parts, files } = wanted;
  const selector = naming.selector(part);
  const secrets = [...new Set([...files.map(({ secret }) => secret), ...parts.secrets])].sort();
  const isMain = part === 'control-plane';
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(wish, wanted.name, part, pods.workloadMetadata),
    spec: {
      replicas: wanted.replicas,
      selector: { matchLabels: { ...selector } },
      strategy: (pods.strategy as Deployment['spec']['strategy']) ?? {
        type: 'RollingUpdate',
        // as many new ones as there are old ones: all of them are on other nodes then
        rollingUpdate: { maxUnavailable: 0, maxSurge: Math.max(1, wanted.replicas) },
      },
      template: {
        metadata: {
          labels: podLabels(wish, part),
          annotations: {
            ...pods.metadata?.annotations,
            'checksum/secrets': checksumOf(secrets.map((secret) => [secret, facts.checksums.get(secret) ?? ''])),
            'checksum/configmaps': checksumOf(wanted.configs),
          },
        },
        spec: {
          ...podBase(pods),
          ...(wanted.component?.priorityClassName !== undefined && {
            priorityClassName: wanted.component.priorityClassName,
          }),
          securityContext: pods.securityContext ?? restrictedPod,
          affinity: pods.affinity ?? near(wish, wanted.near),
          topologySpreadConstraints: pods.topologySpreadConstraints
            ? [...pods.topologySpreadConstraints]
            : spreadOverNodes(selector),
          ...(isMain && pods.initContainers && { initContainers: [...pods.initContainers] }),
          containers: [
            ...parts.containers.map(hardenedSidecar).map(tellingWhy),
            ...(isMain ? (pods.containers ?? []) : []),
          ],
          volumes: [
            ...(files.length > 0 ? [secretVolume(pkiVolume, files)] : []),
            ...parts.volumes,
            ...(isMain ? (pods.volumes ?? []) : []),
          ],
        },
      },
    },
  };
}

const hardenedSidecar = (container: Container): Container =>
  container.securityContext
    ? container
    : { ...container, securityContext: { ...restrictedContainer, capabilities: { drop: ['ALL'] } } };

/** Close to what it talks to, where that is possible. */
function near({ naming }: PlaneWish, part: PlanePart): NonNullable<PodSpec['affinity']> {
  return {
    podAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          podAffinityTerm: {
            topologyKey: 'topology.kubernetes.io/zone',
            labelSelector: { matchLabels: { ...naming.selector(part) } },
          },
        },
      ],
    },
  };
}
