import {
  builtinDefinitions,
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  Deployments,
  MutatingWebhookConfigurations,
  ownDefinitions,
  Providers,
  Services,
  ValidatingWebhookConfigurations,
  type WebhookConfiguration,
} from '../../../api/index.ts';
import type { DeleteOptions, DiscoveredResource, ObjectKey, RestMapper } from '../../../client/index.ts';
import {
  clone,
  ignoreNotFound,
  type KubeObject,
  ManualClock,
  type Resource,
  seededRandom,
} from '../../../machinery/index.ts';
import { type MemoryClient, memoryClient } from '../../../runtime/testkit/index.ts';
import { type Installation, installation } from '../../install/installation.ts';

const by = { fieldManager: 'test' };
const takenKinds = ['clusters.cluster.x-k8s.io', 'openstackclusters.infrastructure.cluster.x-k8s.io'];
const broughtKind = 'clusterstacks.clusterstack.x-k8s.io';

/** A minimal installation with one object for each type of step. */
export function smallInstallation(): Installation {
  const { kinds, others } = installation({ replicas: 2 });
  const wanted = new Set([...takenKinds, broughtKind]);
  const parts = new Set(['Namespace', 'ServiceAccount', 'Deployment', 'Service', 'Provider']);
  const isPart = ({ kind }: KubeObject): boolean => parts.has(kind) || kind.endsWith('WebhookConfiguration');
  return {
    kinds: kinds.filter(({ metadata }) => wanted.has(metadata.name ?? '')),
    others: others.filter(isPart),
  };
}

/** An in-memory management cluster of upstream. */
export interface UpstreamWorld {
  readonly client: MemoryClient;
  readonly mapper: RestMapper;
  readonly clock: ManualClock;
  /** all objects outside our namespace as text, for comparison */
  snapshot(): Promise<string[]>;
  /** a client of a process that crashes at a given write, counted from 1 */
  mortal(at: number): { client: MemoryClient; writes(): number };
}

interface UpstreamOptions {
  readonly coreVersion?: string;
  readonly coreArgs?: readonly string[];
}

export function upstreamWorld({ coreVersion = 'v1.14.2', coreArgs = [] }: UpstreamOptions = {}): UpstreamWorld {
  const clock = new ManualClock(0);
  const memory = memoryClient({ clock, random: seededRandom(1) });
  const client = withServer(memory);
  seedManager(memory, {
    namespace: 'capi-system',
    name: 'capi-controller-manager',
    provider: 'cluster-api',
    image: `registry.k8s.io/cluster-api/cluster-api-controller:${coreVersion}`,
    args: coreArgs,
  });
  seedManager(memory, {
    namespace: 'capo-system',
    name: 'capo-controller-manager',
    provider: 'infrastructure-openstack',
    image: 'registry.k8s.io/capi-openstack/capi-openstack-controller:v0.14.1',
    args: [],
  });
  for (const wanted of smallInstallation().kinds.filter(({ metadata }) => takenKinds.includes(metadata.name ?? ''))) {
    memory.seed(CustomResourceDefinitions, upstreamDefinition(wanted));
  }
  return {
    client,
    mapper: memoryMapper(),
    clock,
    snapshot: () => snapshotOf(memory),
    mortal: (at) => mortal(client, at),
  };
}

export function seedManager(
  client: MemoryClient,
  manager: { namespace: string; name: string; provider: string; image: string; args: readonly string[] },
): void {
  const { namespace, name, provider, image, args } = manager;
  const labels = { 'cluster.x-k8s.io/provider': provider };
  const podLabels = { ...labels, 'control-plane': name };
  client.seed(Deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name, labels },
    spec: {
      replicas: 1,
      selector: { matchLabels: podLabels },
      template: {
        metadata: { labels: podLabels },
        spec: { containers: [{ name: 'manager', image, args: [...args] }] },
      },
    },
  } as never);
  client.seed(Services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace, name: `${provider}-webhook-service`, labels },
    spec: { selector: podLabels },
  });
  client.seed(Providers, {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Provider',
    metadata: { namespace, name: provider, labels },
    providerName: provider,
    type: 'CoreProvider',
    version: 'v1.14.2',
  });
  const configurations: readonly Resource<WebhookConfiguration>[] = [
    MutatingWebhookConfigurations,
    ValidatingWebhookConfigurations,
  ];
  for (const resource of configurations) {
    client.seed(resource, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: resource.kind,
      metadata: {
        name: `${provider}-webhook-configuration`,
        labels,
        annotations: { 'cert-manager.io/inject-ca-from': `${namespace}/${provider}-serving-cert` },
      },
      webhooks: [
        webhook(`of.${provider}.io`, { namespace, name: `${provider}-webhook-service` }),
        webhook('of.somebody.else', { namespace: 'elsewhere', name: 'other' }),
      ],
    });
  }
}

function webhook(name: string, service: { namespace: string; name: string }) {
  return { name, clientConfig: { service, caBundle: 'dXBzdHJlYW0=' }, sideEffects: 'None' };
}

/** Returns our definition with another webhook address and CA. */
function upstreamDefinition(wanted: CustomResourceDefinition): CustomResourceDefinition {
  const crd = clone(wanted);
  crd.metadata = {
    name: crd.metadata.name ?? '',
    labels: { 'cluster.x-k8s.io/provider': 'cluster-api' },
    annotations: { 'cert-manager.io/inject-ca-from': 'capi-system/capi-serving-cert' },
  };
  crd.spec.conversion = {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { service: { namespace: 'capi-system', name: 'capi-webhook-service' }, caBundle: 'dXBzdHJlYW0=' },
      conversionReviewVersions: ['v1'],
    },
  };
  crd.status = { conditions: established, storedVersions: ['v1beta2'] };
  return crd;
}

const established = [
  { type: 'Established', status: 'True', reason: 'Test', message: '', lastTransitionTime: '' },
] as never;

/** Simulates what API servers, kubelets and our Pods do after a write. */
function withServer(client: MemoryClient): MemoryClient {
  return new Proxy(client, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (name === 'delete') {
        return async (resource: Resource<KubeObject>, key: ObjectKey, options: DeleteOptions = {}) => {
          await target.delete(resource, key, options);
          // the garbage collector lets go of what the object owned
          if (options.propagationPolicy !== 'Orphan') return;
          await target.patch(resource, key, 'merge', { metadata: { finalizers: null } }, by).catch(ignoreNotFound);
        };
      }
      if (name !== 'apply') return member;
      return async (resource: Resource<KubeObject>, object: KubeObject, options: never) => {
        const applied = await target.apply(resource, object, options);
        await react(target, resource, applied);
        return await target.get(resource, {
          name: applied.metadata.name ?? '',
          ...(applied.metadata.namespace !== undefined && { namespace: applied.metadata.namespace }),
        });
      };
    },
  });
}

async function react(client: MemoryClient, { kind }: Resource, { metadata }: KubeObject): Promise<void> {
  const { name = '', namespace = '' } = metadata;
  const status = { ...by, subresource: 'status' };
  if (kind === 'CustomResourceDefinition') {
    const found = await client.get(CustomResourceDefinitions, { name });
    const { strategy } = found.spec.conversion ?? {};
    if (strategy === 'Webhook') {
      const conversion = { webhook: { clientConfig: { caBundle: 'b3Vycw==' } } };
      await client.patch(CustomResourceDefinitions, { name }, 'merge', { spec: { conversion } }, by);
    }
    const storedVersions = found.status?.storedVersions ?? ['v1beta2'];
    const patch = { status: { conditions: established, storedVersions } };
    await client.patch(CustomResourceDefinitions, { name }, 'merge', patch, status);
  } else if (kind === 'Deployment') {
    const patch = { status: { replicas: 2, availableReplicas: 2 } };
    await client.patch(Deployments, { namespace, name }, 'merge', patch, status);
  } else if (kind.endsWith('WebhookConfiguration')) {
    const resource: Resource<WebhookConfiguration> =
      kind === MutatingWebhookConfigurations.kind ? MutatingWebhookConfigurations : ValidatingWebhookConfigurations;
    const { webhooks = [] } = await client.get(resource, { name });
    const trusted = webhooks.map((one) => ({ ...one, clientConfig: { ...one.clientConfig, caBundle: 'b3Vycw==' } }));
    await client.patch(resource, { name }, 'merge', JSON.parse(JSON.stringify({ webhooks: trusted })), by);
  }
}

async function snapshotOf(client: MemoryClient): Promise<string[]> {
  const kinds: readonly Resource<KubeObject>[] = [
    Deployments,
    Services,
    Providers,
    CustomResourceDefinitions,
    MutatingWebhookConfigurations,
    ValidatingWebhookConfigurations,
  ];
  const lines: string[] = [];
  for (const resource of kinds) {
    for (const object of (await client.list(resource)).items) {
      const { namespace, name, labels, annotations } = object.metadata;
      if (namespace === 'capstan-system') continue;
      const { metadata: _, status: __, ...content } = object as KubeObject & { status?: object };
      lines.push(`${resource.kind} ${namespace ?? ''}/${name} ${sorted({ labels, annotations, content })}`);
    }
  }
  return lines.sort();
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function mortal(client: MemoryClient, at: number): { client: MemoryClient; writes(): number } {
  let count = 0;
  const proxied = new Proxy(client, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (!['create', 'update', 'patch', 'apply', 'delete'].includes(String(name))) return member;
      return async (...args: unknown[]) => {
        count += 1;
        if (count >= at) throw new Error('killed');
        return await (member as (...given: unknown[]) => Promise<unknown>)(...args);
      };
    },
  });
  return { client: proxied, writes: () => count };
}

function memoryMapper(): RestMapper {
  const resources = [...builtinDefinitions, ...ownDefinitions].map(
    ({ group, storageVersion, kind, plural, namespaced }): DiscoveredResource => ({
      group,
      version: storageVersion,
      kind,
      plural,
      namespaced,
      singular: kind.toLowerCase(),
      shortNames: [],
      categories: [],
      verbs: [],
      subresources: [],
    }),
  );
  return {
    resolve: async (name) => resources.find(({ plural, group }) => `${plural}.${group}` === name) as DiscoveredResource,
    forKind: async ({ group, kind }) => resources.find((one) => one.group === group && one.kind === kind),
    all: async () => ({ resources, failedGroupVersions: [] }),
    invalidate: () => {},
  };
}
