import { connect } from 'node:tls';
import {
  MutatingWebhookConfigurations,
  Namespaces,
  ValidatingWebhookConfigurations,
  type WebhookConfiguration,
} from '../../api/index.ts';
import { type Client, createInformer, dropManagedFields, type Informer } from '../../client/index.ts';
import { type Clock, ignoreNotFound, type Random, type Resource, sleep } from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import { configurationName } from '../../webhooks/index.ts';
import { readAdoption } from '../adopt/record.ts';
import { systemNamespace } from '../controller-identity.ts';

export interface KeepWebhooksServedOptions {
  administrator: Client;
  /** URL of the webhooks of this process */
  url: string;
  /** tells whether webhooks are served at a URL */
  answers(url: string): Promise<boolean>;
  /** points the webhook configurations at this process */
  take(signal: AbortSignal): Promise<void>;
  clock: Clock;
  random: Random;
  log: Logger;
}

const intervalMs = 2000;
const answerPatienceMs = 5000;

/**
 * Takes over the webhooks when the instance that serves them is gone. Of several instances, the API server calls the one that
 * started last. Without it nobody could write objects, or everybody could write them without validation.
 */
export async function keepWebhooksServed(options: KeepWebhooksServedOptions, signal: AbortSignal): Promise<void> {
  const { take, clock, log } = options;
  const configurations = [
    configurationInformer(MutatingWebhookConfigurations, options),
    configurationInformer(ValidatingWebhookConfigurations, options),
  ];
  const watching = Promise.all(configurations.map((informer) => informer.run(signal)));
  let wasUnserved = false;
  while (!signal.aborted) {
    await sleep(clock, intervalMs, signal).catch(() => {});
    if (signal.aborted || !configurations.every((informer) => informer.hasSynced())) continue;
    try {
      const shown = configurations.map(({ lister }) => lister.get({ name: configurationName }));
      // what the watch showed may be old
      const isUnserved =
        (await areUnserved(shown, options, signal)) &&
        (await areUnserved(await readConfigurations(options.administrator, signal), options, signal));
      // seen twice, because another instance may be about to write or remove them
      if (isUnserved && wasUnserved) {
        await take(signal);
        log.info('The API server calls this instance now, because no other serves the webhooks');
      }
      wasUnserved = isUnserved && !wasUnserved;
    } catch (error) {
      if (!signal.aborted) log.debug('Webhooks could not be looked after', { error });
    }
  }
  await watching;
}

/** Watches instead of reading: the configurations are large, and rarely change. */
function configurationInformer(
  resource: Resource<WebhookConfiguration>,
  { administrator, clock, random, log }: KeepWebhooksServedOptions,
): Informer<WebhookConfiguration> {
  return createInformer({
    client: administrator,
    resource,
    clock,
    random,
    fieldSelector: `metadata.name=${configurationName}`,
    transform: dropManagedFields,
    onError: (error) => log.debug('The webhook configurations cannot be watched', { error }),
  });
}

async function readConfigurations(
  administrator: Client,
  signal: AbortSignal,
): Promise<(WebhookConfiguration | undefined)[]> {
  const read = (resource: Resource<WebhookConfiguration>): Promise<WebhookConfiguration | undefined> =>
    administrator.get(resource, { name: configurationName }, { signal }).catch(ignoreNotFound);
  return await Promise.all([read(MutatingWebhookConfigurations), read(ValidatingWebhookConfigurations)]);
}

async function areUnserved(
  found: readonly (WebhookConfiguration | undefined)[],
  { administrator, url, answers }: KeepWebhooksServedOptions,
  signal: AbortSignal,
): Promise<boolean> {
  if (found.includes(undefined)) return await isInstalled(administrator, signal);
  const urls = found
    .flatMap((configuration) => configuration?.webhooks ?? [])
    .map(({ clientConfig }) => clientConfig?.url);
  // a Service belongs to a permanent installation
  const others = new Set(urls.flatMap((text) => (text === undefined ? [] : [new URL(text).origin])));
  others.delete(url);
  for (const other of others) if (!(await answers(other))) return true;
  return false;
}

/**
 * Tells whether Capstan is installed and stays. `uninstall` and `adopt --release` remove the configurations first and the
 * namespace last; kinds written meanwhile would be stored again in versions that upstream does not know.
 */
async function isInstalled(administrator: Client, signal: AbortSignal): Promise<boolean> {
  const namespace = await administrator.get(Namespaces, { name: systemNamespace }, { signal }).catch(ignoreNotFound);
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return false;
  return (await readAdoption(administrator, signal))?.phase !== 'releasing';
}

/** Tells whether a server with a certificate of these authorities answers at the URL. */
export async function answersWith(authorities: string, url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return await new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), ca: authorities, timeout: answerPatienceMs });
    const settle = (isAnswered: boolean): void => {
      socket.destroy();
      resolve(isAnswered);
    };
    socket.once('secureConnect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
}
