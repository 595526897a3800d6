import type { ResourceDefinition } from '../../machinery/index.ts';
import type { Webhook } from './configuration.ts';

type NamedKind = Pick<ResourceDefinition, 'group' | 'singular' | 'plural'>;

/** first words of the names that providers give their webhooks */
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
 * Whether a webhook is the one an upstream provider brings for a kind of its own: Cluster API, the OpenStack provider,
 * k0smotron, Kamaji, the hosted control plane and the cluster stack operator. It is known by what it is for, however it was
 * installed: it asks for this kind alone, and its name is made as the provider makes it of the kind. Policies of an operator
 * are for several kinds or named after somebody else, and are never mistaken for one.
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
    // vtenantcontrolplane.kb.io: names that kubebuilder makes when nobody gives one
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
