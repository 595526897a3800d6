import type { ResourceDefinition } from '../../machinery/index.ts';
import type { Webhook } from './configuration.ts';

type NamedKind = Pick<ResourceDefinition, 'group' | 'singular' | 'plural'>;

/** First words in the names of provider webhooks. */
const purposes: ReadonlySet<string> = new Set([
  'default',
  'defaulting',
  'mutate',
  'mutating',
  'mutation',
  'validate',
  'validating',
  'validation',
]);

const clusterApi = 'cluster.x-k8s.io';
const clusterStacks = 'clusterstack.x-k8s.io';
const k0smotron = 'k0smotron.io';
const kamaji = 'kamaji.clastix.io';

/**
 * Tells whether a webhook belongs to an upstream provider of one of our kinds: Cluster API, the OpenStack provider,
 * k0smotron, Kamaji, the hosted control plane or the cluster stack operator. The provider's webhooks are recognized by
 * their rules and names, independent of the installation: they match this kind alone, and their names are derived from
 * it. Webhooks of operators match several kinds or have other names, so they are never confused.
 */
export function isProviderWebhook({ name, match }: Pick<Webhook, 'name' | 'match'>, kind: NamedKind): boolean {
  const { group, plural } = kind;
  const forKindAlone = match.rules.every(
    ({ apiGroups, resources }) =>
      apiGroups.every((candidate) => candidate === group) &&
      resources.every((resource) => resource === plural || resource.startsWith(`${plural}/`)),
  );
  return forKindAlone && match.rules.length > 0 && isProviderName(name, kind);
}

function isProviderName(name: string, { group, singular }: NamedKind): boolean {
  if (isGroupOf(group, clusterApi) || isGroupOf(group, clusterStacks)) {
    // validation.kubeadmcontrolplane.controlplane.cluster.x-k8s.io, validation-scale.kubeadmcontrolplane…
    const rest = withoutSuffix(name, `.${singular}.${group}`);
    const [purpose = '', ...subresource] = rest?.split('-') ?? [];
    if (purposes.has(purpose) && subresource.length <= 1) return true;
  }
  if (group === k0smotron || isGroupOf(group, clusterApi)) {
    // validate-k0scontrolplane-v1beta1.k0smotron.io
    const rest = withoutSuffix(name, `.${k0smotron}`)?.split('-') ?? [];
    const [purpose = '', ...words] = rest;
    if (purposes.has(purpose) && words.includes(singular)) return true;
  }
  if (group === kamaji || singular.startsWith('hostedcontrolplane')) {
    // vtenantcontrolplane.kb.io: default names of kubebuilder
    const rest = withoutSuffix(name, '.kb.io') ?? '';
    const [word = ''] = rest.split('-');
    return word === `m${singular}` || word === `v${singular}`;
  }
  return false;
}

function isGroupOf(group: string, domain: string): boolean {
  return group === domain || group.endsWith(`.${domain}`);
}

function withoutSuffix(text: string, suffix: string): string | undefined {
  return text.endsWith(suffix) ? text.slice(0, -suffix.length) : undefined;
}
