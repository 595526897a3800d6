import {
  ClusterRoleBindings,
  ClusterRoles,
  Deployments,
  MutatingWebhookConfigurations,
  ValidatingWebhookConfigurations,
  type WebhookConfiguration,
} from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { CapstanError, type Clock, isNotFound, type Resource, sleep, systemRandom } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import {
  configurationName,
  mutatingConfiguration,
  trustBundle,
  validatingConfiguration,
  type WebhookEndpoint,
} from '../../webhooks/index.ts';
import type { ControllerArea } from '../controller-areas.ts';
import { ensureControllerIdentity } from '../controller-identity.ts';
import { applyKinds, refuseForeignKinds } from '../install/apply-kinds.ts';
import { installedKinds } from '../install/installation.ts';
import { installedDefinitions } from '../install/installed-kinds.ts';
import { installedRules } from '../install/installed-rules.ts';
import { installedLabels } from '../install/labels.ts';
import { webhooksRole, webhooksRoleBinding } from '../install/webhook-rights.ts';
import { controllersKey } from '../install/workload.ts';
import { ensureProviderInventory } from '../provider-inventory.ts';
import { answersWith, keepWebhooksServed } from './keep-webhooks-served.ts';
import type { WebhookService } from './webhook-service.ts';

const by = { fieldManager: 'capstan', force: true };
/** time for an API server that is just starting */
const removalPatienceMs = 10_000;
const removalRetryMs = 500;

/** Installs account and permissions of the controllers, which need them even to create their certificates. */
export async function installRights(administrator: Client, signal: AbortSignal): Promise<void> {
  await refuseBesideInstallation(administrator, signal);
  await ensureControllerIdentity(administrator, signal);
  await administrator.apply(ClusterRoles, webhooksRole, { ...by, signal });
  await administrator.apply(ClusterRoleBindings, webhooksRoleBinding, { ...by, signal });
}

/** Refuses if an installation exists, because its webhooks would be replaced now and deleted at the end. */
async function refuseBesideInstallation(administrator: Client, signal: AbortSignal): Promise<void> {
  try {
    const { metadata } = await administrator.get(Deployments, controllersKey, { signal });
    throw new CapstanError(
      'CAP_INSTALLED_ALREADY',
      `the controllers are installed in that Kubernetes: there is a Deployment ${metadata.namespace}/${metadata.name}`,
      { hint: 'leave --install out to run beside them, or remove them with `capstan uninstall`' },
    );
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Installs the kinds and points the API server to the webhooks of this process. */
export async function installKinds(
  administrator: Client,
  options: { service: WebhookService; areas: ReadonlySet<ControllerArea>; clock: Clock; signal: AbortSignal },
): Promise<void> {
  const { service, areas, clock, signal } = options;
  const endpoint: WebhookEndpoint = { url: urlOf(service) };
  const common = { endpoint, bundle: trustBundle(service.keeper.current), labels: installedLabels };
  const kinds = installedKinds(endpoint, common.bundle);
  await refuseForeignKinds(administrator, kinds, signal);
  const rules = installedRules(() => administrator, clock);
  const configured = { ...common, definitions: installedDefinitions, rules };
  // before the CRDs, because other instances notice from these alone that this one is gone, even if it was killed in the middle
  await administrator.apply(MutatingWebhookConfigurations, mutatingConfiguration(configured), { ...by, signal });
  await administrator.apply(ValidatingWebhookConfigurations, validatingConfiguration(configured), { ...by, signal });
  await applyKinds(administrator, kinds, { clock, signal });
  await ensureProviderInventory(administrator, areas, signal);
}

/** Checks, until it is closed, that some instance serves the webhooks. */
export function watchWebhooks(
  administrator: Client,
  options: { service: WebhookService; areas: ReadonlySet<ControllerArea>; clock: Clock; log: Logger },
): { close(): Promise<void> } {
  const { service, areas, clock, log } = options;
  const stop = new AbortController();
  const watching = keepWebhooksServed(
    {
      administrator,
      url: urlOf(service),
      answers: (url) => answersWith(trustBundle(service.keeper.current), url),
      take: (signal) => installKinds(administrator, { service, areas, clock, signal }),
      clock,
      random: systemRandom,
      log,
    },
    stop.signal,
  );
  return {
    async close() {
      stop.abort();
      await watching;
    },
  };
}

/**
 * Removes the webhook configurations, so that objects can be written without a webhook server. Configurations that
 * meanwhile point elsewhere belong to another instance and stay. Definitions stay unchanged: without its conversion
 * webhook a kind cannot be read in old versions, which is better than a conversion without rules.
 */
export async function removeConfigurations(
  administrator: Client,
  { service, clock, log }: { service: Pick<WebhookService, 'port'>; clock: Clock; log: Logger },
): Promise<void> {
  const url = urlOf(service);
  const remove = async (resource: Resource<WebhookConfiguration>): Promise<void> => {
    try {
      const { metadata, webhooks = [] } = await administrator.get(resource, { name: configurationName });
      if (!webhooks.every(({ clientConfig }) => clientConfig?.url?.startsWith(`${url}/`))) return;
      const { uid } = metadata;
      await administrator.delete(
        resource,
        { name: configurationName },
        { ...(uid !== undefined && { preconditions: { uid } }) },
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  };
  const deadline = clock.monotonic() + removalPatienceMs;
  for (;;) {
    try {
      await Promise.all([remove(MutatingWebhookConfigurations), remove(ValidatingWebhookConfigurations)]);
      return;
    } catch (error) {
      if (clock.monotonic() >= deadline) {
        log.error(
          'Webhook configurations could not be removed: until they are, or this runs again, objects cannot be written',
          {
            name: configurationName,
            error,
          },
        );
        return;
      }
    }
    await sleep(clock, removalRetryMs);
  }
}

function urlOf({ port }: Pick<WebhookService, 'port'>): string {
  return `https://127.0.0.1:${port}`;
}
