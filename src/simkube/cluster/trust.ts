import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { UserInfo } from '../../apiserver/index.ts';
import { type Clock, must } from '../../machinery/index.ts';
import { type CertificateInfo, extendedKeyUsageIds, parseCertificate, splitCertificates } from '../../pki/index.ts';

// What a TLS handshake would check, for connections that never leave the process.

/** A handshake that failed, with the code Node's TLS gives it. */
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
  /** authorities known to have issued it */
  readonly issuers: Set<string>;
}

const recent = new Map<string, ReadCertificate>();
const maxRecent = 4_096;

/** Certificates are met again with every connection; reading one costs more than everything else on the way. */
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

/** Throws what a client would that trusts these authorities and meets this certificate under this name. */
export function checkServingCertificate(
  certificatePem: string,
  trusted: { readonly authority: string; readonly serverName: string },
  clock: Clock,
): void {
  const [leaf, ...between] = chainOf(certificatePem);
  // a server may send certificates that lead from its own to an authority the client knows
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

/** What a server sends: its certificate, and those behind it. */
function chainOf(pem: string): readonly [ReadCertificate, ...ReadCertificate[]] {
  const [, ...between] = pem.indexOf('BEGIN', pem.indexOf('BEGIN') + 1) < 0 ? [] : splitCertificates(pem);
  return [read(pem), ...between.map(read)];
}

/** Whether one certificate after the other leads from the leaf to an authority that is trusted. */
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

/** The user a client certificate stands for; undefined when the authority does not vouch for it. */
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
