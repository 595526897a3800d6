import {
  type CustomResourceDefinition,
  CustomResourceDefinitions,
  MutatingWebhookConfigurations,
  ValidatingWebhookConfigurations,
  type WebhookClientConfig,
  type WebhookConfiguration,
} from '../api/index.ts';
import type { Client } from '../client/index.ts';
import {
  asTyped,
  isJsonObject,
  isNotFound,
  type KubeObject,
  type Resource,
  type ResourceDefinition,
} from '../machinery/index.ts';
import { bundleOfConfiguration, bundleOfDefinition, configurationName } from './configurations.ts';

/** Owns only the bundles, so that applying the manifests again does not remove them. */
const by = { fieldManager: 'capstan-webhooks', force: true };

/** Resource versions of definitions that have a bundle, by the name of the definition. */
export interface CheckedDefinitions {
  bundle: string;
  versions: Map<string, string>;
}

/**
 * Writes the CA bundle into the webhook configurations and the definitions with conversion. Skips up-to-date and
 * missing objects; it runs again once they are installed. A definition has half a megabyte, so those in `checked` are
 * only read again when their version changed.
 */
export async function publishBundle(
  client: Client,
  {
    definitions,
    isOurs,
    bundle,
    checked,
    signal,
  }: {
    definitions: Iterable<ResourceDefinition>;
    /** tells whether a definition calls our webhook; others of the same name have another authority */
    isOurs(found: CustomResourceDefinition): boolean;
    bundle: string;
    checked: CheckedDefinitions;
    signal: AbortSignal;
  },
): Promise<{ written: number; missing: string[] }> {
  const wanted = Buffer.from(bundle).toString('base64');
  const outcome = { written: 0, missing: [] as string[] };
  if (checked.bundle !== bundle) checked.versions.clear();
  checked.bundle = bundle;
  const shown = checked.versions.size > 0 ? await definitionVersions(client, signal) : new Map<string, string>();
  const publish = async <T extends KubeObject>(
    resource: Resource<T>,
    name: string,
    { configs, apply }: { configs(found: T): (WebhookClientConfig | undefined)[]; apply(found: T): KubeObject },
  ): Promise<string | undefined> => {
    try {
      const found = await client.get(resource, { name }, { signal });
      if (configs(found).every((config) => config === undefined || config.caBundle === wanted))
        return found.metadata.resourceVersion;
      await client.apply(resource, apply(found) as T, { ...by, signal });
      outcome.written++;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      outcome.missing.push(`${resource.kind} ${name}`);
    }
    return undefined;
  };
  const configuration = {
    configs: ({ webhooks = [] }: WebhookConfiguration) => webhooks.map(({ clientConfig }) => clientConfig ?? {}),
    apply: (found: WebhookConfiguration) => bundleOfConfiguration(found, bundle),
  };
  await publish<WebhookConfiguration>(MutatingWebhookConfigurations, configurationName, configuration);
  await publish<WebhookConfiguration>(ValidatingWebhookConfigurations, configurationName, configuration);
  for (const { plural, group, versions } of definitions) {
    if (versions.length < 2) continue;
    const name = `${plural}.${group}`;
    const version = shown.get(name);
    if (version !== undefined && checked.versions.get(name) === version) continue;
    const upToDate = await publish(CustomResourceDefinitions, name, {
      configs: (found) => (isOurs(found) ? [conversionConfig(found.spec.conversion?.webhook)] : []),
      apply: () => bundleOfDefinition(name, bundle),
    });
    if (upToDate === undefined) checked.versions.delete(name);
    else checked.versions.set(name, upToDate);
  }
  return outcome;
}

async function definitionVersions(client: Client, signal: AbortSignal): Promise<Map<string, string>> {
  const { items } = await client.list(CustomResourceDefinitions, { metadataOnly: true, signal });
  return new Map(items.map(({ metadata: { name = '', resourceVersion = '' } }) => [name, resourceVersion]));
}

/** Returns undefined if the definition has no conversion webhook. Its author decides that. */
function conversionConfig(webhook: unknown): WebhookClientConfig | undefined {
  const config = isJsonObject(webhook) ? webhook['clientConfig'] : undefined;
  return isJsonObject(config) ? asTyped<WebhookClientConfig>(config) : undefined;
}
