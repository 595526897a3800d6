import {
  MutatingWebhookConfigurations,
  Services,
  ValidatingWebhookConfigurations,
  type Webhook,
  type WebhookConfiguration,
} from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import type { Resource } from '../../machinery/index.ts';
import { isInstalledByUs } from '../install/labels.ts';
import { providerLabel } from './known-managers.ts';
import { listed } from './listed.ts';
import type { FoundManager } from './managers.ts';

export const configurationKinds: readonly Resource<WebhookConfiguration>[] = [
  MutatingWebhookConfigurations,
  ValidatingWebhookConfigurations,
];

/** A configuration with webhooks that the stopped managers served. */
export interface FoundConfiguration {
  readonly resource: Resource<WebhookConfiguration>;
  readonly object: WebhookConfiguration;
  /** webhooks to remove; the others stay */
  readonly stopped: readonly Webhook[];
}

export async function findConfigurations(
  client: Client,
  managers: readonly FoundManager[],
  signal: AbortSignal,
): Promise<FoundConfiguration[]> {
  const services = await servicesOf(client, managers, signal);
  const providers = new Set(managers.map(({ known }) => known.provider));
  const found: FoundConfiguration[] = [];
  for (const resource of configurationKinds) {
    for (const object of await listed(client, resource, signal)) {
      if (isInstalledByUs(object)) continue;
      const isProviders = providers.has(object.metadata.labels?.[providerLabel] ?? '');
      const stopped = (object.webhooks ?? []).filter(({ clientConfig }) => {
        const { namespace = '', name = '' } = clientConfig?.service ?? {};
        return clientConfig?.service ? services.has(`${namespace}/${name}`) : isProviders;
      });
      if (stopped.length > 0) found.push({ resource, object, stopped });
    }
  }
  return found;
}

/** Returns `namespace/name` of the Services that lead to the managers. */
export async function servicesOf(
  client: Client,
  managers: readonly FoundManager[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const namespace of new Set(managers.map((manager) => manager.namespace))) {
    const { items } = await client.list(Services, { namespace, signal });
    for (const { metadata, spec } of items) {
      const selector = Object.entries(spec?.selector ?? {});
      const leadsToManager = managers.some(
        (manager) =>
          manager.namespace === namespace &&
          selector.length > 0 &&
          selector.every(([key, value]) => manager.podLabels[key] === value),
      );
      if (leadsToManager) names.add(`${namespace}/${metadata.name ?? ''}`);
    }
  }
  return names;
}
