import type { WebhookConfiguration } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import type { Resource } from '../../machinery/index.ts';
import { withoutInjection } from './definitions.ts';
import { findNamed } from './find-named.ts';
import { adoptionManager, restoreOwners } from './owners.ts';

const by = { fieldManager: adoptionManager };

/** Removes webhooks that nobody serves any more. The configuration itself stays, so that its owner finds it. */
export async function switchOff(
  client: Client,
  resource: Resource<WebhookConfiguration>,
  name: string,
  { stopped, signal }: { stopped: ReadonlySet<string>; signal: AbortSignal },
): Promise<void> {
  const present = await findNamed(client, resource, name, signal);
  if (!present?.webhooks?.some((webhook) => stopped.has(webhook.name))) return;
  const metadata = { ...present.metadata, annotations: withoutInjection(present.metadata.annotations) };
  const webhooks = present.webhooks.filter((webhook) => !stopped.has(webhook.name));
  await client.update(resource, { ...present, metadata, webhooks }, { ...by, signal });
}

/** Restores the original configuration including its field managers. */
export async function switchOn(
  client: Client,
  resource: Resource<WebhookConfiguration>,
  saved: WebhookConfiguration,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', labels, annotations, managedFields } = saved.metadata;
  const described = { ...(labels && { labels }), ...(annotations && { annotations }) };
  const { apiVersion, kind, webhooks = [] } = saved;
  const present = await findNamed(client, resource, name, signal);
  if (!present) {
    await client.create(resource, { apiVersion, kind, metadata: { name, ...described }, webhooks }, { ...by, signal });
    return;
  }
  const metadata = { ...present.metadata, ...described };
  const again = await client.update(resource, { ...present, metadata, webhooks }, { ...by, signal });
  await restoreOwners(client, resource, again, { managedFields, signal });
}
