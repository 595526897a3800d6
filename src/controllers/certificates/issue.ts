import type { Secret } from '../../api/index.ts';
import { type Clock, parseDuration } from '../../machinery/index.ts';
import { type CertificateAndKey, createAuthority, issueCertificate, type KeyAlgorithm } from '../../pki/index.ts';
import type { Certificate } from './types.ts';

const hour = 3_600_000;
/** cert-manager's defaults. */
const usualMs = 90 * 24 * hour;
const leastMs = hour;

export const hostsOf = ({ spec }: Certificate): string[] => [...(spec?.dnsNames ?? []), ...(spec?.ipAddresses ?? [])];
export const nameOf = ({ spec, metadata }: Certificate): string =>
  spec?.commonName || spec?.dnsNames?.[0] || metadata.name || '';

export function durationMs({ spec }: Certificate): number {
  const asked = spec?.duration === undefined ? undefined : parseDuration(spec.duration);
  return Math.max(leastMs, asked ?? usualMs);
}

function algorithmOf({ spec }: Certificate): KeyAlgorithm {
  const { algorithm = 'RSA', size } = spec?.privateKey ?? {};
  if (algorithm === 'ECDSA') return size === 384 ? 'ECDSA-P384' : 'ECDSA-P256';
  return size === 4096 ? 'RSA-4096' : size === 3072 ? 'RSA-3072' : 'RSA-2048';
}

/**
 * Creates the data of a kubernetes.io/tls Secret. `authority` is that of a CA issuer; without it the certificate is
 * self-signed.
 */
export async function issueSecretData(
  certificate: Certificate,
  authority: CertificateAndKey | undefined,
  clock: Clock,
): Promise<NonNullable<Secret['data']>> {
  const validityMs = durationMs(certificate);
  const algorithm = algorithmOf(certificate);
  if (certificate.spec?.isCA === true) {
    const made = await createAuthority({ commonName: nameOf(certificate), clock, validityMs, algorithm });
    return data(made, authority?.certificate ?? made.certificate);
  }
  const signer = authority ?? (await createAuthority({ commonName: nameOf(certificate), clock, validityMs }));
  const made = await issueCertificate({
    authority: signer,
    commonName: nameOf(certificate),
    organizations: certificate.spec?.subject?.organizations ?? [],
    hosts: hostsOf(certificate),
    usages: ['server', 'client'],
    clock,
    validityMs,
    algorithm,
  });
  return data(made, signer.certificate);
}

function data({ certificate, privateKey }: CertificateAndKey, ca: string): NonNullable<Secret['data']> {
  const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
  return { 'tls.crt': encode(certificate), 'tls.key': encode(privateKey), 'ca.crt': encode(ca) };
}
