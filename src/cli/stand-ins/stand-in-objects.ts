import { builtInAnnotation, type Deployment, Deployments, type Namespace, Namespaces } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { ignoreNotFound, isAlreadyExists } from '../../machinery/index.ts';
import { providerVersion } from '../provider-inventory.ts';
import { type BuiltInManager, builtInManagers, type StandInArea, type StandInDeployment } from './built-in-managers.ts';
import { offeredTo } from './helm-adoption.ts';

const by = { fieldManager: 'capstan' };
/** Node of the Pod host; other nodes cannot pull these images. */
const hostNode = 'capstan';
const ownImages = 'capstan.dev/';

/** Creates placeholder Deployments of built-in controllers with the names in guides. Replacements by users are kept. */
export async function ensureStandIns(
  client: Client,
  areas: ReadonlySet<StandInArea>,
  signal: AbortSignal,
): Promise<void> {
  for (const manager of builtInManagers) {
    if (!manager.deployment || !areas.has(manager.area)) continue;
    const { namespace, name } = manager.deployment;
    const place: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };
    await client.create(Namespaces, place, { ...by, signal }).catch(ignoreExisting);
    const found = await client.get(Deployments, { namespace, name }, { signal }).catch(ignoreNotFound);
    if (found && !isStandIn(found)) continue;
    await client.apply(Deployments, standIn(manager, manager.deployment), { ...by, force: true, signal });
  }
}

/** Deployments with other images are unchanged, marked or not. */
function isStandIn({ spec }: Deployment): boolean {
  return spec?.template?.spec?.containers.every(({ image }) => image?.startsWith(ownImages)) ?? false;
}

function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

function standIn({ area, name }: BuiltInManager, deployment: StandInDeployment): Deployment {
  const labels = { 'control-plane': deployment.name, 'cluster.x-k8s.io/provider': deployment.provider };
  const annotations = { [builtInAnnotation]: area };
  const { namespace, release } = deployment;
  const offer = release === undefined ? undefined : offeredTo({ namespace, name: release });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      namespace: deployment.namespace,
      name: deployment.name,
      labels: { ...labels, ...offer?.labels },
      annotations: {
        ...annotations,
        ...offer?.annotations,
        'kubernetes.io/description': `Stands for ${name}, whose controllers are built in.`,
      },
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels, annotations },
        spec: {
          nodeSelector: { 'kubernetes.io/hostname': hostNode },
          automountServiceAccountToken: false,
          containers: [
            {
              name: 'manager',
              image: `${ownImages}${imageName(deployment.provider)}:${providerVersion(deployment.provider)}`,
              readinessProbe: { httpGet: { path: '/readyz', port: 9440 }, periodSeconds: 10 },
            },
          ],
        },
      },
    },
  };
}

/** Upstream image names, which select the simulated program. */
const imageNames: Readonly<Record<string, string>> = {
  'cluster-api': 'cluster-api-controller',
  'bootstrap-kubeadm': 'kubeadm-bootstrap-controller',
  'control-plane-kubeadm': 'kubeadm-control-plane-controller',
  'infrastructure-openstack': 'capi-openstack-controller',
  'control-plane-hosted-control-plane': 'cluster-api-provider-hosted-control-plane',
  'cluster-stack-operator': 'cso',
};
const imageName = (provider: string): string => imageNames[provider] ?? provider;
