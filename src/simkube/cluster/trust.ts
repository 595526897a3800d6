import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { UserInfo } from '../../apiserver/index.ts';
import { type Clock, must } from '../../machinery/index.ts';
import { type CertificateInfo, extendedKeyUsageIds, parseCertificate, splitCertificates } from '../../pki/index.ts';

// The checks of a TLS handshake, for connections that stay inside the process.

/** A failed handshake, with the error code of Node's TLS. */
export class HandshakeError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'HandshakeError';
    this.code = code;
  }
}

interface ReadCertificate {
  readonly certificate: X509Certificate;
  readonly info: CertificateInfo;
  /** authorities verified to have issued it */
  readonly issuers: Set<string>;
}

const recent = new Map<string, ReadCertificate>();
const maxRecent = 4_096;

/**
 * Every connection presents the same certificates, and parsing is its most expensive step, so parsed certificates are
 * cached.
 */
function read(pem: string): ReadCertificate {
  let known = recent.get(pem);
  if (!known) {
    const certificate = new X509Certificate(pem);
    known = { certificate, info: parseCertificate(certificate), issuers: new Set() };
    if (recent.size >= maxRecent) recent.delete(must(recent.keys().next().value, 'the oldest'));
    recent.set(pem, known);
  }
  return known;
}

/**
 * Verifies a serving certificate like a client that trusts these authorities and expects this name. Throws the client's
 * error.
 */
export function checkServingCertificate(
  certificatePem: string,
  trusted: { readonly authority: string; readonly serverName: string },
  clock: Clock,
): void {
  const [leaf, ...between] = chainOf(certificatePem);
  // A server may send intermediate certificates that link its own to a trusted authority.
  const isTrusted = isIssuedBy(leaf, trusted.authority) || isLinked(leaf, between, trusted.authority);
  if (!isTrusted) {
    throw new HandshakeError(
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    );
  }
  const { certificate, info } = leaf;
  checkDates(info, clock);
  const { serverName } = trusted;
  const isGood =
    isIP(serverName) === 0
      ? certificate.checkHost(serverName) !== undefined
      : certificate.checkIP(serverName) !== undefined;
  if (isGood) return;
  const { dnsNames, ipAddresses } = info;
  throw new HandshakeError(
    'ERR_TLS_CERT_ALTNAME_INVALID',
    isIP(serverName) === 0
      ? `tls: failed to verify certificate: x509: certificate is valid for ${dnsNames.join(', ')}, not ${serverName}`
      : `tls: failed to verify certificate: x509: certificate is valid for ${ipAddresses.join(', ')}, not ${serverName}`,
  );
}

/** Splits what a server sends into its certificate and the intermediates. */
function chainOf(pem: string): readonly [ReadCertificate, ...ReadCertificate[]] {
  const [, ...between] = pem.indexOf('BEGIN', pem.indexOf('BEGIN') + 1) < 0 ? [] : splitCertificates(pem);
  return [read(pem), ...between.map(read)];
}

/** Reports whether intermediate certificates link the leaf to a trusted authority. */
function isLinked(leaf: ReadCertificate, between: readonly ReadCertificate[], authority: string): boolean {
  let current = leaf;
  const left = [...between];
  while (left.length > 0) {
    const next = left.findIndex(
      ({ certificate }) =>
        certificate.ca &&
        current.certificate.checkIssued(certificate) &&
        current.certificate.verify(certificate.publicKey),
    );
    if (next < 0) return false;
    const [found] = left.splice(next, 1);
    if (!found) return false;
    if (isIssuedBy(found, authority)) return true;
    current = found;
  }
  return false;
}

/** Returns the user of a client certificate; undefined if the authority did not issue it. */
export function userOfCertificate(
  pair: { readonly certificate: string; readonly key: string },
  authority: string,
  clock: Clock,
): UserInfo | undefined {
  const leaf = read(pair.certificate);
  if (!isIssuedBy(leaf, authority)) return undefined;
  const { subject, extendedKeyUsages, notBefore, notAfter } = leaf.info;
  if (clock.now() < notBefore || clock.now() > notAfter) return undefined;
  if (extendedKeyUsages.length > 0 && !extendedKeyUsages.includes(extendedKeyUsageIds.clientAuth)) return undefined;
  return subject.commonName === '' ? undefined : { name: subject.commonName, groups: subject.organizations };
}

function isIssuedBy({ certificate, issuers }: ReadCertificate, authority: string): boolean {
  if (issuers.has(authority)) return true;
  const isIssued = splitCertificates(authority).some((pem) => {
    const issuer = read(pem).certificate;
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  });
  if (isIssued) issuers.add(authority);
  return isIssued;
}

function checkDates({ notBefore, notAfter }: CertificateInfo, clock: Clock): void {
  const now = clock.now();
  if (now >= notBefore && now <= notAfter) return;
  throw new HandshakeError(
    'CERT_HAS_EXPIRED',
    'tls: failed to verify certificate: x509: certificate has expired or is not yet valid',
  );
}
