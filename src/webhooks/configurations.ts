import type {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  Webhook,
  WebhookClientConfig,
} from '../api/index.ts';
import {
  asJson,
  asTyped,
  clone,
  type JsonObject,
  type KubeObject,
  type ResourceDefinition,
} from '../machinery/index.ts';
import type { Rule } from './admission.ts';
import { hasLaterRules, withoutLaterRules } from './portable-rules.ts';
import { hubVersion } from './reviewed-kinds.ts';

/** Where API servers find the webhooks. */
export type WebhookEndpoint =
  | { service: { namespace: string; name: string; port: number } }
  /** `https://host:port` */
  | { url: string };

export const webhookPaths = { mutate: '/mutate', validate: '/validate', convert: '/convert' } as const;

/** The name both configurations have. */
export const configurationName = 'capstan-webhooks';

const timeoutSeconds = 10;

function clientConfig(endpoint: WebhookEndpoint, path: string, bundle: string | undefined): WebhookClientConfig {
  const caBundle = bundle === undefined ? {} : { caBundle: Buffer.from(bundle).toString('base64') };
  if ('url' in endpoint) return { url: `${endpoint.url}${path}`, ...caBundle };
  return { service: { ...endpoint.service, path }, ...caBundle };
}

export interface ConfigurationOptions {
  definitions: Iterable<ResourceDefinition>;
  endpoint: WebhookEndpoint;
  /** PEM; left out, whoever serves the webhooks fills it in */
  bundle?: string;
  labels?: Readonly<Record<string, string>>;
  /** what is asked besides the definitions themselves */
  rules?: readonly Pick<Rule, 'concerns' | 'operations'>[];
}

export function mutatingConfiguration(options: ConfigurationOptions): MutatingWebhookConfiguration {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: configurationName, ...(options.labels && { labels: { ...options.labels } }) },
    webhooks: reviewed(options).map((definition) => ({
      ...webhookOf(definition, 'default', options),
      reinvocationPolicy: 'Never',
    })),
  };
}

export function validatingConfiguration(options: ConfigurationOptions): ValidatingWebhookConfiguration {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: configurationName, ...(options.labels && { labels: { ...options.labels } }) },
    webhooks: reviewed(options).map((definition) => webhookOf(definition, 'validation', options)),
  };
}

/** Kinds whose published schema says it all need nobody to be asked, and can be written while nobody answers. */
function reviewed({ definitions, rules = [] }: ConfigurationOptions): ResourceDefinition[] {
  return [...definitions].filter(
    (definition) =>
      definition.schemaSaysAll !== true || hasLaterRules(definition) || rules.some((rule) => rule.concerns(definition)),
  );
}

/**
 * One webhook of a kind, under upstream's name for it. It is asked in the hub version alone: the API server converts what
 * was written in another one.
 */
function webhookOf(
  definition: ResourceDefinition,
  purpose: 'default' | 'validation',
  { endpoint, bundle, rules = [] }: ConfigurationOptions,
): Webhook {
  const { group, singular, plural, storageVersion, namespaced } = definition;
  const scales = purpose === 'validation' && hubVersion(definition).scale !== undefined;
  const isKept =
    purpose === 'validation' &&
    rules.some((known) => known.operations.includes('DELETE') && known.concerns(definition));
  const rule = { apiGroups: [group], apiVersions: [storageVersion], scope: namespaced ? 'Namespaced' : 'Cluster' };
  return {
    name: `${purpose}.${singular}.${group}`,
    admissionReviewVersions: ['v1'],
    clientConfig: clientConfig(endpoint, purpose === 'default' ? webhookPaths.mutate : webhookPaths.validate, bundle),
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
    rules: [
      { ...rule, operations: ['CREATE', 'UPDATE', ...(isKept ? ['DELETE'] : [])], resources: [plural] },
      ...(scales ? [{ ...rule, operations: ['UPDATE'], resources: [`${plural}/scale`] }] : []),
    ],
    sideEffects: 'None',
    timeoutSeconds,
  };
}

/** The definition of a kind for a Kubernetes that does not have it built in. Without an endpoint its versions differ in name only. */
export function customResourceDefinitionFor(
  definition: ResourceDefinition,
  { endpoint, bundle, labels = {} }: Partial<Omit<ConfigurationOptions, 'definitions'>>,
): CustomResourceDefinition {
  if (!definition.crd) throw new TypeError(`${definition.kind} is not published as a definition`);
  const crd = asTyped<CustomResourceDefinition>(
    hasLaterRules(definition) ? withoutLaterRules(asJson(definition.crd)) : clone(definition.crd),
  );
  crd.metadata.labels = { ...crd.metadata.labels, ...labels };
  if (definition.versions.length > 1 && endpoint) {
    const config = asJson(clientConfig(endpoint, webhookPaths.convert, bundle));
    crd.spec.conversion = {
      strategy: 'Webhook',
      webhook: { clientConfig: config, conversionReviewVersions: ['v1'] },
    };
  }
  return crd;
}

/** What of a webhook configuration says whom to trust, and nothing else: for an apply of its own. */
export function bundleOfConfiguration<T extends KubeObject & { webhooks?: Webhook[] }>(
  { apiVersion, kind, metadata, webhooks }: T,
  bundle: string,
): KubeObject & { webhooks: { name: string; clientConfig: WebhookClientConfig }[] } {
  const caBundle = Buffer.from(bundle).toString('base64');
  return {
    apiVersion,
    kind,
    metadata: { name: metadata.name ?? '' },
    webhooks: (webhooks ?? []).map(({ name }) => ({ name, clientConfig: { caBundle } })),
  };
}

/** The same of the definition of a kind. */
export function bundleOfDefinition(name: string, bundle: string): KubeObject & JsonObject {
  const caBundle = Buffer.from(bundle).toString('base64');
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { caBundle } } } },
  };
}
