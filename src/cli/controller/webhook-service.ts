import type { Client } from '../../client/index.ts';
import {
  asUnstructured,
  type Clock,
  type Random,
  type Resource,
  type ResourceDefinition,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { Logger } from '../../runtime/index.ts';
import {
  type CertificateKeeper,
  ReviewedKinds,
  startCertificateKeeper,
  startWebhookServer,
} from '../../webhooks/index.ts';
import { systemNamespace } from '../controller-identity.ts';
import { installedDefinitions } from '../install/installed-kinds.ts';
import { installedRules } from '../install/installed-rules.ts';
import { isInstalledByUs } from '../install/labels.ts';
import { webhookService } from '../install/webhook-service.ts';

const certificateSecret = { namespace: systemNamespace, name: 'capstan-webhook-certificates' } as const;
const loopback = '127.0.0.1';

export interface WebhookServiceOptions {
  /** client with the permissions of the controllers */
  client: Client;
  clock: Clock;
  random: Random;
  log: Logger;
  host: string;
  port: number;
  /** objects without a controller of this instance must not get its finalizers */
  reconcilesAll: boolean;
  signal: AbortSignal;
}

/** Serves the webhooks of all kinds in this process, with automatically renewed certificates. */
export interface WebhookService {
  readonly port: number;
  readonly keeper: CertificateKeeper;
  close(): Promise<void>;
}

/** Time for pending reviews to finish. */
const drainMs = 5000;

export async function startWebhookService(options: WebhookServiceOptions): Promise<WebhookService> {
  const { client, clock, random, log, host, port, reconcilesAll, signal } = options;
  const { name, namespace } = webhookService;
  const keeper = await startCertificateKeeper(
    {
      client,
      clock,
      random,
      log,
      secret: certificateSecret,
      hosts: [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`, 'localhost', loopback],
      definitions: installedDefinitions,
      isOurs: isInstalledByUs,
    },
    signal,
  );
  const server = await startWebhookServer({
    host,
    port,
    clock,
    random,
    log,
    kinds: new ReviewedKinds(installedDefinitions),
    rules: installedRules(() => client, clock, { reconcilesAll }),
    certificate: keeper.current.serving,
    readLive: async (definition, key) => asUnstructured(await client.get(hubResource(definition), key, { signal })),
  });
  const stop = new AbortController();
  const looking = keeper.run(stop.signal, ({ serving }) => server.setCertificate(serving));
  return {
    port: server.port,
    keeper,
    async close() {
      stop.abort();
      await Promise.all([looking, server.close(drainMs)]);
    },
  };
}

function hubResource({
  group,
  storageVersion,
  kind,
  plural,
  namespaced,
}: ResourceDefinition): Resource<UnstructuredObject> {
  return { group, version: storageVersion, kind, plural, namespaced };
}
