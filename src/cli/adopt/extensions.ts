import { type ExtensionConfig, ExtensionConfigs } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { providerLabel } from './known-managers.ts';
import { listed } from './listed.ts';
import type { FoundManager } from './managers.ts';
import { servicesOf } from './webhooks.ts';

/**
 * Finds the runtime extensions that the stopped managers served, such as the hooks of the stack operator. Capstan does
 * their work itself; as long as they are registered, it would ask them and wait for an answer that never comes.
 */
export async function findExtensions(
  client: Client,
  managers: readonly FoundManager[],
  signal: AbortSignal,
): Promise<ExtensionConfig[]> {
  const services = await servicesOf(client, managers, signal);
  const providers = new Set(managers.map(({ known }) => known.provider));
  return (await listed(client, ExtensionConfigs, signal)).filter(({ metadata, spec }) => {
    const { service } = spec.clientConfig;
    // A manager that runs outside of the cluster is reached by URL.
    if (!service) return providers.has(metadata.labels?.[providerLabel] ?? '');
    return services.has(`${service.namespace}/${service.name}`);
  });
}
