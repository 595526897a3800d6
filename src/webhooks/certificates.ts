import { isIP } from 'node:net';
import type { Clock } from '../machinery/index.ts';
import {
  type CertificateAndKey,
  type CertificateInfo,
  createAuthority,
  isMatchingPair,
  issueCertificate,
  parseCertificate,
} from '../pki/index.ts';

/** Certificates shared by the replicas of the webhook server. */
export interface WebhookCertificates {
  /** CA of the serving certificate */
  authority: CertificateAndKey;
  /** next CA, published before it signs so that it is trusted everywhere */
  next?: CertificateAndKey & { announcedAt: number };
  /** previous CA, whose certificates some replica may still serve */
  previous?: { certificate: string };
  serving: CertificateAndKey;
}

const day = 24 * 60 * 60 * 1000;
const authorityLifeMs = 10 * 365 * day;
/** remaining lifetime at which a CA is replaced */
const authorityRenewalMs = 365 * day;
const servingLifeMs = 90 * day;
const servingRenewalMs = 30 * day;
/** time after which all API servers have read a new bundle, and all replicas a new certificate */
const settleMs = 60 * 60 * 1000;

/** Different names, because some clients treat a certificate with equal subject and issuer as self-signed. */
const authorityName = 'capstan-webhooks-ca';
const servingName = 'capstan-webhooks';

/** Returns the bundle of trusted CAs, the current one first. */
export function trustBundle({ authority, next, previous }: WebhookCertificates): string {
  const parts = [authority.certificate, next?.certificate, previous?.certificate];
  return parts
    .filter((part) => part !== undefined)
    .map((part) => `${part.trimEnd()}\n`)
    .join('');
}

/**
 * What the certificates are to be now, the same object when nothing is to change. An authority is replaced in steps, each
 * of which leaves every pair of an API server and a replica that are one step apart able to talk:
 *
 * 1. the next authority joins the bundle that is published;
 * 2. once it is published everywhere and has settled, it signs, and the old one stays in the bundle;
 * 3. when nothing the old one signed can be valid any more, it leaves the bundle.
 *
 * Where nothing is there, or what is there has expired or is damaged, all of it is made again at once: nobody can be
 * talking to us then.
 */
export async function renewedCertificates(
  found: WebhookCertificates | undefined,
  options: { hosts: readonly string[]; clock: Clock; isPublished: boolean },
): Promise<WebhookCertificates> {
  const { hosts, clock, isPublished } = options;
  const now = clock.now();
  if (!found || !isUsableAuthority(found.authority, now)) {
    const authority = await newAuthority(clock);
    return { authority, serving: await newServing(authority, hosts, clock) };
  }
  let certificates = found;
  const { authority, next, previous } = found;
  if (next && !isUsableAuthority(next, now)) {
    const { next: _, ...rest } = found;
    certificates = rest;
  } else if (next && isPublished && now - next.announcedAt >= settleMs) {
    const signing = { certificate: next.certificate, privateKey: next.privateKey };
    certificates = {
      authority: signing,
      previous: { certificate: authority.certificate },
      serving: await newServing(signing, hosts, clock),
    };
  } else if (!next && endOf(authority.certificate) - now < authorityRenewalMs) {
    certificates = { ...found, next: { ...(await newAuthority(clock)), announcedAt: now } };
  } else if (previous && isOutlived(previous.certificate, found.serving.certificate, now)) {
    const { previous: _, ...rest } = found;
    certificates = rest;
  }
  if (isGoodServing(certificates, hosts, now)) return certificates;
  return { ...certificates, serving: await newServing(certificates.authority, hosts, clock) };
}

function newAuthority(clock: Clock): Promise<CertificateAndKey> {
  return createAuthority({ commonName: authorityName, clock, validityMs: authorityLifeMs });
}

function newServing(authority: CertificateAndKey, hosts: readonly string[], clock: Clock): Promise<CertificateAndKey> {
  return issueCertificate({
    authority,
    commonName: servingName,
    hosts,
    usages: ['server'],
    clock,
    validityMs: servingLifeMs,
  });
}

function isUsableAuthority({ certificate, privateKey }: CertificateAndKey, now: number): boolean {
  return isMatchingPair(certificate, privateKey) && endOf(certificate) > now;
}

/**
 * Certificates of the old CA were in use until the current serving certificate began, and all replicas have replaced
 * them since.
 */
function isOutlived(authority: string, serving: string, now: number): boolean {
  return endOf(authority) <= now || now - parseCertificate(serving).notBefore >= settleMs + day;
}

function isGoodServing({ authority, serving }: WebhookCertificates, hosts: readonly string[], now: number): boolean {
  if (!isMatchingPair(serving.certificate, serving.privateKey, authority.certificate)) return false;
  const info = parseCertificate(serving.certificate);
  const renewAt = Math.min(info.notAfter - servingRenewalMs, endOf(authority.certificate));
  return renewAt > now && covers(info, hosts);
}

function covers(info: CertificateInfo, hosts: readonly string[]): boolean {
  return hosts.every((host) => (isIP(host) === 0 ? info.dnsNames : info.ipAddresses).includes(host));
}

function endOf(certificate: string): number {
  return parseCertificate(certificate).notAfter;
}
