import type { CustomResourceDefinition } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import {
  type Clock,
  isAlreadyExists,
  isConflict,
  type Random,
  type ResourceDefinition,
  sleep,
} from '../machinery/index.ts';
import type { Logger } from '../runtime/index.ts';
import { readCertificates, writeCertificates } from './certificate-secret.ts';
import { renewedCertificates, trustBundle, type WebhookCertificates } from './certificates.ts';
import { publishBundle } from './publish-bundle.ts';

export interface CertificateKeeperOptions {
  client: Client;
  clock: Clock;
  random: Random;
  log: Logger;
  /** Secret shared by the replicas */
  secret: { namespace: string; name: string };
  /** names and addresses of the webhook server */
  hosts: readonly string[];
  definitions: readonly ResourceDefinition[];
  /** tells whether a definition calls our webhook */
  isOurs(found: CustomResourceDefinition): boolean;
}

/** Renews the certificates of the webhooks, together with the other replicas. */
export interface CertificateKeeper {
  readonly current: WebhookCertificates;
  /** the CA bundles are written to all webhook configurations and definitions */
  readonly isPublished: boolean;
  /** publishes again, after the configurations were overwritten */
  publish(signal: AbortSignal): Promise<void>;
  /** runs until the signal aborts; calls back when the serving certificate changes */
  run(signal: AbortSignal, onRenewed: (certificates: WebhookCertificates) => void): Promise<void>;
}

/** interval of checks; much shorter than any deadline */
const intervalMs = 5 * 60_000;
const retryMs = 2000;
/** retry interval while definitions or configurations do not exist yet */
const absentMs = 10_000;
/** several replicas may create the first certificates at the same time */
const maxAttempts = 10;

/** Resolves once certificates exist, created here or by another replica. */
export async function startCertificateKeeper(
  options: CertificateKeeperOptions,
  signal: AbortSignal,
): Promise<CertificateKeeper> {
  const { client, clock, random, log, secret, hosts, definitions, isOurs } = options;
  let publishedBundle: string | undefined;
  const checked = { bundle: '', versions: new Map<string, string>() };

  const renew = async (): Promise<WebhookCertificates> => {
    for (let attempt = 1; ; attempt++) {
      const stored = await readCertificates(client, secret, signal);
      const isPublished = stored.certificates !== undefined && publishedBundle === trustBundle(stored.certificates);
      const certificates = await renewedCertificates(stored.certificates, { hosts, clock, isPublished });
      if (certificates === stored.certificates) return certificates;
      try {
        await writeCertificates(client, secret, { stored, certificates, signal });
        log.info('Certificates of the webhooks were renewed', { name: secret.name, namespace: secret.namespace });
        return certificates;
      } catch (error) {
        if (attempt === maxAttempts || !(isConflict(error) || isAlreadyExists(error))) throw error;
        await sleep(clock, random.next() * 500, signal);
      }
    }
  };
  const publish = async (aborted: AbortSignal): Promise<void> => {
    const bundle = trustBundle(current);
    const { written, missing } = await publishBundle(client, {
      definitions,
      isOurs,
      bundle,
      checked,
      signal: aborted,
    });
    if (written > 0) log.info('Authorities of the webhooks were published', { objects: written });
    if (missing.length > 0) log.debug('Some of what names the webhooks is not there', { missing });
    publishedBundle = missing.length === 0 ? bundle : undefined;
  };

  let current = await renew();
  return {
    get current() {
      return current;
    },
    get isPublished() {
      return publishedBundle === trustBundle(current);
    },
    publish,
    async run(aborted, onRenewed) {
      let served = current.serving.certificate;
      while (!aborted.aborted) {
        let pause = intervalMs;
        try {
          current = await renew();
          // Published first, because API servers refuse a certificate they do not trust yet.
          await publish(aborted);
          if (current.serving.certificate !== served) onRenewed(current);
          served = current.serving.certificate;
          if (publishedBundle === undefined) pause = absentMs;
        } catch (error) {
          if (aborted.aborted) return;
          pause = retryMs;
          log.error('Certificates of the webhooks could not be looked after', { error });
        }
        await sleep(clock, pause, aborted).catch(() => {});
      }
    },
  };
}
