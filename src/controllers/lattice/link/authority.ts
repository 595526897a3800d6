import type { KeyObject } from 'node:crypto';
import { type Secret, Secrets } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { type Clock, ignoreNotFound, isAlreadyExists, isConflict } from '../../../machinery/index.ts';
import {
  authorityEnd,
  type CertificateAndKey,
  createAuthority,
  extendedKeyUsageIds,
  issueCertificate,
  type ParsedCsr,
  signCertificate,
} from '../../../pki/index.ts';
import { latticeFieldManager } from '../names.ts';
import { ensureAccessNamespace } from '../self/access-namespace.ts';
import { sha256 } from './enrolment.ts';
import { agentOrganization, authorityKey } from './names.ts';

const day = 24 * 3_600_000;
/** Backdating, for clusters whose clocks are behind by up to this. */
const backdateMs = day;
export const certificateMs: number = 90 * day;
/** A CA that expires within this time is replaced, with all its certificates. */
const authorityMarginMs = 365 * day;
const by = { fieldManager: latticeFieldManager };
const digitalSignature = 1;

/** Ensures the CA of a parent's endpoints, stored in a Secret because certificates outlive the process. */
export async function ensureAuthority(client: Client, clock: Clock, signal: AbortSignal): Promise<CertificateAndKey> {
  const found = await client.get(Secrets, authorityKey, { signal }).catch(ignoreNotFound);
  const known = pairOf(found);
  if (known && authorityEnd(known.certificate) - clock.now() > authorityMarginMs) return known;
  const made = await createAuthority({ commonName: 'lattice-cell-ca', clock, backdateMs });
  const data = {
    'ca.crt': Buffer.from(made.certificate).toString('base64'),
    'ca.key': Buffer.from(made.privateKey).toString('base64'),
  };
  try {
    if (found) await client.update(Secrets, { ...found, data }, { ...by, signal });
    else {
      await ensureAccessNamespace(client, signal);
      const secret: Secret = { apiVersion: 'v1', kind: 'Secret', metadata: { ...authorityKey }, type: 'Opaque', data };
      await client.create(Secrets, secret, { ...by, signal });
    }
    return made;
  } catch (error) {
    if (!isAlreadyExists(error) && !isConflict(error)) throw error;
    return pairOf(await client.get(Secrets, authorityKey, { signal })) ?? made;
  }
}

/** Issues the endpoints' server certificate for these names. */
export const serverCertificate = (
  authority: CertificateAndKey,
  hosts: readonly string[],
  clock: Clock,
): Promise<CertificateAndKey> =>
  issueCertificate({
    authority,
    commonName: 'lattice-cell',
    hosts,
    usages: ['server'],
    clock,
    validityMs: certificateMs,
    backdateMs,
  });

/** Issues an agent's client certificate. The name in the request was checked against the token. */
export const agentCertificate = (
  authority: CertificateAndKey,
  { subjectBytes, publicKey }: ParsedCsr,
  clock: Clock,
): string =>
  signCertificate({
    authority,
    subject: subjectBytes,
    publicKey,
    notBefore: clock.now() - backdateMs,
    notAfter: clock.now() + certificateMs,
    keyUsage: digitalSignature,
    extendedKeyUsages: [extendedKeyUsageIds.clientAuth],
    extensions: [],
  });

/** Tells whether a certificate request is for exactly the expected name and nothing else. */
export function isForAgent({ subject, dnsNames, ipAddresses, emailAddresses, uris }: ParsedCsr, name: string): boolean {
  const { commonName, organizations } = subject;
  const others = [dnsNames, ipAddresses, emailAddresses, uris];
  const isGroup = organizations.length === 1 && organizations[0] === agentOrganization;
  return commonName === name && isGroup && others.every((names) => names.length === 0);
}

export const hashOfKey = (key: KeyObject): string => sha256(key.export({ type: 'spki', format: 'der' }));

function pairOf(secret: Secret | undefined): CertificateAndKey | undefined {
  const text = (name: string): string => Buffer.from(secret?.data?.[name] ?? '', 'base64').toString('utf8');
  const certificate = text('ca.crt');
  const privateKey = text('ca.key');
  return certificate.includes('-----BEGIN') && privateKey.includes('-----BEGIN')
    ? { certificate, privateKey }
    : undefined;
}
