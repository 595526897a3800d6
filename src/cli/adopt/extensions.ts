import { type ExtensionConfig, ExtensionConfigs } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
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
  return (await listed(client, ExtensionConfigs, signal)).filter(({ spec }) => {
    const { service } = spec.clientConfig;
    return service !== undefined && services.has(`${service.namespace}/${service.name}`);
  });
}
