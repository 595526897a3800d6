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

/** Address of the webhooks for API servers. */
export type WebhookEndpoint =
  | { service: { namespace: string; name: string; port: number } }
  /** `https://host:port` */
  | { url: string };

export const webhookPaths = { mutate: '/mutate', validate: '/validate', convert: '/convert' } as const;

/** Name of both webhook configurations. */
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
  /** PEM; if absent, the webhook server adds it */
  bundle?: string;
  labels?: Readonly<Record<string, string>>;
  /** rules in addition to those of the definitions */
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

/**
 * Kinds whose rules are all in the published schema need no webhook, and can be written while the webhooks are down.
 */
function reviewed({ definitions, rules = [] }: ConfigurationOptions): ResourceDefinition[] {
  return [...definitions].filter(
    (definition) =>
      definition.schemaSaysAll !== true || hasLaterRules(definition) || rules.some((rule) => rule.concerns(definition)),
  );
}

/**
 * Builds the webhook of a kind, with upstream's name. It is called only for the hub version, and the API server
 * converts other versions first.
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

/**
 * Builds the CustomResourceDefinition of a kind. Without an endpoint its versions are identical except for the name.
 */
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

/** Returns only the CA bundle fields of a webhook configuration, for a separate apply. */
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

/** Returns only the CA bundle of a definition. */
export function bundleOfDefinition(name: string, bundle: string): KubeObject & JsonObject {
  const caBundle = Buffer.from(bundle).toString('base64');
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { caBundle } } } },
  };
}
