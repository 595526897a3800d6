import { createPublicKey, type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Extension, Name, SubjectKeyIdentifierExtension, X509Certificate as X509Reader } from '@peculiar/x509';
import type { Clock } from '../machinery/index.ts';
import { type CertificateInfo, extendedKeyUsageIds, parseCertificate } from './certificate.ts';
import { generateKeys, importKeys, importPublicKey, type KeyAlgorithm } from './keys.ts';
import { encodePem } from './pem.ts';
import { loadX509 } from './x509.ts';

/** A certificate with its private key, both PEM. */
export interface CertificateAndKey {
  certificate: string;
  privateKey: string;
}

export interface AuthorityOptions {
  commonName: string;
  clock: Clock;
  /** default ten years */
  validityMs?: number;
  algorithm?: KeyAlgorithm;
  /** how many authorities may follow below this one; default: any number */
  pathLength?: number;
  /** use this key instead of making one */
  privateKey?: string;
}

export interface CertificateOptions {
  authority: CertificateAndKey;
  commonName: string;
  organizations?: readonly string[];
  /** DNS names and IP addresses, told apart by their form */
  hosts?: readonly string[];
  usages: readonly ('server' | 'client')[];
  clock: Clock;
  /** default one year; never beyond the end of the authority */
  validityMs?: number;
  algorithm?: KeyAlgorithm;
  /** use this key instead of making one */
  privateKey?: string;
}

const day = 24 * 60 * 60 * 1000;
/** Certificates begin a little in the past, for machines whose clocks are late. */
const backdateMs = 5 * 60 * 1000;

/** RFC 5280: positive, at most 20 octets. 127 random bits never repeat in practice. */
function newSerialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/**
 * Groups first, each in a name of its own, then the user: the order kubeadm and Go write. Values are given to the writer
 * as typed strings, because it would read a plain `#0c…` as encoded bytes and so turn one name into another.
 */
export async function subjectName(commonName: string, organizations: readonly string[] = []): Promise<Name> {
  const { Name } = await loadX509();
  return new Name([
    ...organizations.map((organization) => ({ O: [{ utf8String: organization }] })),
    { CN: [{ utf8String: commonName }] },
  ]);
}

export async function alternativeNames(hosts: readonly string[]): Promise<Extension[]> {
  if (hosts.length === 0) return [];
  const x509 = await loadX509();
  return [
    new x509.SubjectAlternativeNameExtension(
      hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host })),
    ),
  ];
}

/** Makes a self-signed certificate authority. */
export async function createAuthority(options: AuthorityOptions): Promise<CertificateAndKey> {
  // Keys are made on other threads while the library loads.
  const [x509, privateKey] = await Promise.all([
    loadX509(),
    options.privateKey ?? generateKeys(options.algorithm).then((pair) => pair.privateKey),
  ]);
  const keys = await importKeys(privateKey);
  const now = options.clock.now();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerialNumber(),
    name: await subjectName(options.commonName),
    notBefore: new Date(now - backdateMs),
    notAfter: new Date(now + (options.validityMs ?? 3650 * day)),
    keys,
    signingAlgorithm: keys.algorithm,
    extensions: [
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment | x509.KeyUsageFlags.keyCertSign,
        true,
      ),
      new x509.BasicConstraintsExtension(true, options.pathLength, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...(await alternativeNames([options.commonName].filter((name) => /^[a-z0-9.-]+$/.test(name)))),
    ],
  });
  return { certificate: encodePem('CERTIFICATE', new Uint8Array(certificate.rawData)), privateKey };
}

export interface SignRequest {
  authority: CertificateAndKey;
  subject: Name;
  publicKey: KeyObject;
  notBefore: number;
  notAfter: number;
  /** bits of x509.KeyUsageFlags */
  keyUsage: number;
  /** object ids */
  extendedKeyUsages: readonly string[];
  extensions: readonly Extension[];
}

interface Issuer {
  info: CertificateInfo;
  issuer: X509Reader;
  identifier: SubjectKeyIdentifierExtension | null;
}

const recentIssuers = new Map<string, Issuer>();
const maxRecentIssuers = 64;

/** An authority as the writer reads it; few authorities sign many certificates. */
function issuerOf(certificate: string, x509: Awaited<ReturnType<typeof loadX509>>): Issuer {
  let known = recentIssuers.get(certificate);
  if (!known) {
    const issuer = new x509.X509Certificate(new Uint8Array(new X509Certificate(certificate).raw));
    const identifier = issuer.getExtension(x509.SubjectKeyIdentifierExtension);
    known = { info: parseCertificate(certificate), issuer, identifier };
    if (recentIssuers.size >= maxRecentIssuers) recentIssuers.delete(recentIssuers.keys().next().value!);
    recentIssuers.set(certificate, known);
  }
  return known;
}

/** Signs a public key under an authority; everything a leaf certificate needs besides its names is added here. */
export async function signCertificate(request: SignRequest): Promise<string> {
  const x509 = await loadX509();
  const { info: authorityInfo, issuer, identifier } = issuerOf(request.authority.certificate, x509);
  const [authorityKeys, publicKey] = await Promise.all([
    importKeys(request.authority.privateKey),
    importPublicKey(request.publicKey),
  ]);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerialNumber(),
    subject: request.subject,
    issuer: issuer.subjectName,
    notBefore: new Date(request.notBefore),
    notAfter: new Date(Math.min(request.notAfter, authorityInfo.notAfter)),
    publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: authorityKeys.algorithm,
    extensions: [
      ...(request.keyUsage === 0 ? [] : [new x509.KeyUsagesExtension(request.keyUsage, true)]),
      ...(request.extendedKeyUsages.length === 0
        ? []
        : [new x509.ExtendedKeyUsageExtension([...request.extendedKeyUsages])]),
      new x509.BasicConstraintsExtension(false, undefined, true),
      // The authority's own identifier where it has one: makers compute it differently, and OpenSSL insists on a match.
      identifier === null
        ? await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey)
        : new x509.AuthorityKeyIdentifierExtension(identifier.keyId),
      ...request.extensions,
    ],
  });
  return encodePem('CERTIFICATE', new Uint8Array(certificate.rawData));
}

/** Issues a certificate for servers, clients or both, with a new key unless one is given. */
export async function issueCertificate(options: CertificateOptions): Promise<CertificateAndKey> {
  const [x509, privateKey] = await Promise.all([
    loadX509(),
    options.privateKey ?? generateKeys(options.algorithm).then((pair) => pair.privateKey),
  ]);
  const now = options.clock.now();
  const certificate = await signCertificate({
    authority: options.authority,
    subject: await subjectName(options.commonName, options.organizations),
    publicKey: createPublicKey(privateKey),
    notBefore: now - backdateMs,
    notAfter: now + (options.validityMs ?? 365 * day),
    keyUsage: x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment,
    extendedKeyUsages: options.usages.map(
      (usage) => extendedKeyUsageIds[usage === 'server' ? 'serverAuth' : 'clientAuth'],
    ),
    extensions: await alternativeNames(options.hosts ?? []),
  });
  return { certificate, privateKey };
}
