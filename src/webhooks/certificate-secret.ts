import { type Secret, Secrets } from '../api/index.ts';
import type { Client } from '../client/index.ts';
import { formatTime, isNotFound, parseRfc3339 } from '../machinery/index.ts';
import { type CertificateAndKey, parseCertificate } from '../pki/index.ts';
import type { WebhookCertificates } from './certificates.ts';

const announcedAnnotation = 'capstan.dev/next-authority-announced';

export interface StoredCertificates {
  /** undefined if the Secret is missing or has no certificates */
  certificates: WebhookCertificates | undefined;
  /** base of an update; undefined if there is no Secret */
  secret: Secret | undefined;
}

export async function readCertificates(
  client: Client,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<StoredCertificates> {
  try {
    const secret = await client.get(Secrets, key, { signal });
    return { secret, certificates: certificatesOf(secret) };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return { secret: undefined, certificates: undefined };
  }
}

/** Writes certificates derived from `stored`. A conflict means that another replica was faster. */
export async function writeCertificates(
  client: Client,
  key: { namespace: string; name: string },
  {
    stored,
    certificates,
    signal,
  }: { stored: StoredCertificates; certificates: WebhookCertificates; signal: AbortSignal },
): Promise<void> {
  const { authority, next, previous, serving } = certificates;
  const texts: Record<string, string | undefined> = {
    'ca.crt': authority.certificate,
    'ca.key': authority.privateKey,
    'next-ca.crt': next?.certificate,
    'next-ca.key': next?.privateKey,
    'previous-ca.crt': previous?.certificate,
    'tls.crt': serving.certificate,
    'tls.key': serving.privateKey,
  };
  const data: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts)) {
    if (text !== undefined) data[name] = Buffer.from(text).toString('base64');
  }
  const { [announcedAnnotation]: _, ...others } = stored.secret?.metadata.annotations ?? {};
  const annotations = { ...others, ...(next && { [announcedAnnotation]: formatTime(next.announcedAt) }) };
  const options = { fieldManager: 'capstan-webhooks', signal };
  if (stored.secret) {
    const { metadata } = stored.secret;
    await client.update(Secrets, { ...stored.secret, metadata: { ...metadata, annotations }, data }, options);
    return;
  }
  const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { ...key, annotations }, type: 'Opaque', data };
  await client.create(Secrets, secret, options);
}

function certificatesOf({ data = {}, metadata }: Secret): WebhookCertificates | undefined {
  const text = (name: string): string | undefined =>
    data[name] === undefined ? undefined : Buffer.from(data[name], 'base64').toString('utf8');
  const pair = (name: string): CertificateAndKey | undefined => {
    const certificate = text(`${name}.crt`);
    const privateKey = text(`${name}.key`);
    if (certificate === undefined || privateKey === undefined || !isCertificate(certificate)) return undefined;
    return { certificate, privateKey };
  };
  const authority = pair('ca');
  const serving = pair('tls');
  if (!authority || !serving) return undefined;
  const next = pair('next-ca');
  const announcedAt = parseRfc3339(metadata.annotations?.[announcedAnnotation] ?? '');
  const previous = text('previous-ca.crt');
  return {
    authority,
    serving,
    ...(next && announcedAt !== undefined && { next: { ...next, announcedAt } }),
    ...(previous !== undefined && isCertificate(previous) && { previous: { certificate: previous } }),
  };
}

/** The Secret may have been edited by hand. Invalid certificates count as missing and are recreated. */
function isCertificate(text: string): boolean {
  try {
    parseCertificate(text);
    return true;
  } catch {
    return false;
  }
}
