import { createPublicKey, type KeyObject, randomBytes, X509Certificate } from 'node:crypto';
import { type Clock, must } from '../machinery/index.ts';
import {
  type CertificateInfo,
  encodedSubject,
  extendedKeyUsageIds,
  findExtension,
  parseCertificate,
} from './certificate.ts';
import { firstDer } from './der.ts';
import { derSequence, derSmallInteger, derTag, derTime, wrapperTag, writeDer } from './der-writer.ts';
import { generateKeys, type KeyAlgorithm, signingKey } from './keys.ts';
import { encodePem } from './pem.ts';
import {
  alternativeNamesExtension,
  authorityKeyIdentifierExtension,
  basicConstraintsExtension,
  encodedPublicKey,
  extendedKeyUsageExtension,
  extensionIds,
  keyIdentifier,
  keyUsageBits,
  keyUsageExtension,
  namesOfHosts,
  signatureAlgorithmOf,
  signedDocument,
  subjectKeyIdentifierExtension,
  subjectName,
} from './x509-parts.ts';

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
  /** maximum number of subordinate authorities; default: unlimited */
  pathLength?: number;
  /** existing key; default: a new one */
  privateKey?: string;
  /** start of validity before now, to tolerate late clocks; default five minutes */
  backdateMs?: number;
}

export interface CertificateOptions {
  authority: CertificateAndKey;
  commonName: string;
  organizations?: readonly string[];
  /** DNS names and IP addresses, distinguished by their form */
  hosts?: readonly string[];
  usages: readonly ('server' | 'client')[];
  clock: Clock;
  /** default one year; never beyond the end of the authority */
  validityMs?: number;
  algorithm?: KeyAlgorithm;
  /** existing key; default: a new one */
  privateKey?: string;
  /** start of validity before now, to tolerate late clocks; default five minutes */
  backdateMs?: number;
}

const day = 24 * 60 * 60 * 1000;
/** Certificates start slightly in the past, to tolerate late clocks. */
const backdateMs = 5 * 60 * 1000;

/** RFC 5280 requires a positive number of at most 20 octets. 127 random bits never repeat in practice. */
function newSerialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (must(bytes[0], 'a byte') & 0x7f) | 0x40;
  return bytes;
}

/** Content of a certificate, with names and extensions already encoded. */
interface CertificateContent {
  issuer: Uint8Array;
  subject: Uint8Array;
  notBefore: number;
  notAfter: number;
  publicKey: KeyObject;
  extensions: readonly Uint8Array[];
}

const version3 = writeDer(wrapperTag(0), derSmallInteger(2));

function writeCertificate(content: CertificateContent, privateKey: KeyObject): string {
  const algorithm = signatureAlgorithmOf(privateKey);
  const toBeSigned = derSequence(
    version3,
    writeDer(derTag.integer, newSerialNumber()),
    algorithm.identifier,
    content.issuer,
    derSequence(derTime(content.notBefore), derTime(content.notAfter)),
    content.subject,
    encodedPublicKey(content.publicKey),
    writeDer(wrapperTag(3), derSequence(...content.extensions)),
  );
  return encodePem('CERTIFICATE', signedDocument(toBeSigned, algorithm, privateKey));
}

/** Creates a self-signed certificate authority. */
export async function createAuthority(options: AuthorityOptions): Promise<CertificateAndKey> {
  const privateKey = options.privateKey ?? (await generateKeys(options.algorithm)).privateKey;
  return authorityWithKey({ ...options, privateKey });
}

/** Like createAuthority, but synchronous with an existing key. */
export function authorityWithKey(options: AuthorityOptions & { privateKey: string }): CertificateAndKey {
  const { privateKey } = options;
  const key = signingKey(privateKey);
  const publicKey = createPublicKey(key);
  const now = options.clock.now();
  const name = subjectName(options.commonName);
  const { digitalSignature, keyEncipherment, keyCertSign } = keyUsageBits;
  const certificate = writeCertificate(
    {
      issuer: name,
      subject: name,
      notBefore: now - (options.backdateMs ?? backdateMs),
      notAfter: now + (options.validityMs ?? 3650 * day),
      publicKey,
      extensions: [
        keyUsageExtension(digitalSignature | keyEncipherment | keyCertSign),
        basicConstraintsExtension({ isAuthority: true, pathLength: options.pathLength }),
        subjectKeyIdentifierExtension(keyIdentifier(publicKey)),
        ...alternativeNamesExtension(
          namesOfHosts([options.commonName].filter((commonName) => /^[a-z0-9.-]+$/.test(commonName))),
        ),
      ],
    },
    key,
  );
  return { certificate, privateKey };
}

/**
 * Signs the certificate of one authority with another. Clients that trust only the signer then also accept certificates
 * of the new authority. This replaces an authority without updating every client.
 */
export function crossSignAuthority(options: {
  /** PEM of the authority to be signed */
  certificate: string;
  signer: CertificateAndKey;
  clock: Clock;
}): string {
  const { signer, clock } = options;
  const opened = new X509Certificate(options.certificate);
  const issuer = issuerOf(signer.certificate);
  const { digitalSignature, keyEncipherment, keyCertSign } = keyUsageBits;
  return writeCertificate(
    {
      issuer: issuer.name,
      subject: encodedSubject(opened.raw),
      notBefore: clock.now() - backdateMs,
      notAfter: Math.min(parseCertificate(opened).notAfter, issuer.info.notAfter),
      publicKey: opened.publicKey,
      extensions: [
        keyUsageExtension(digitalSignature | keyEncipherment | keyCertSign),
        basicConstraintsExtension({ isAuthority: true }),
        subjectKeyIdentifierExtension(issuerOf(options.certificate).keyIdentifier),
        authorityKeyIdentifierExtension(issuer.keyIdentifier),
      ],
    },
    signingKey(signer.privateKey),
  );
}

export interface SignRequest {
  authority: CertificateAndKey;
  /** an encoded Name */
  subject: Uint8Array;
  publicKey: KeyObject;
  notBefore: number;
  notAfter: number;
  /** bits of the keyUsage extension */
  keyUsage: number;
  /** object ids */
  extendedKeyUsages: readonly string[];
  /** further encoded extensions */
  extensions: readonly Uint8Array[];
}

interface Issuer {
  info: CertificateInfo;
  /** the encoded subject, copied unchanged, because chains are built by comparing bytes */
  name: Buffer;
  keyIdentifier: Buffer;
}

const recentIssuers = new Map<string, Issuer>();
const maxRecentIssuers = 64;

/** Data of an authority for signing. Cached, because few authorities sign many certificates. */
function issuerOf(certificate: string): Issuer {
  let known = recentIssuers.get(certificate);
  if (!known) {
    const opened = new X509Certificate(certificate);
    // Uses the authority's own identifier if it has one: implementations compute it differently, and OpenSSL requires a
    // match.
    const own = findExtension(opened.raw, extensionIds.subjectKeyIdentifier);
    known = {
      info: parseCertificate(opened),
      name: encodedSubject(opened.raw),
      keyIdentifier: own === undefined ? keyIdentifier(opened.publicKey) : firstDer(own).content,
    };
    if (recentIssuers.size >= maxRecentIssuers)
      recentIssuers.delete(must(recentIssuers.keys().next().value, 'the oldest'));
    recentIssuers.set(certificate, known);
  }
  return known;
}

/** End of an authority's validity, from the cache of recent issuers. */
export function authorityEnd(certificate: string): number {
  return issuerOf(certificate).info.notAfter;
}

/** Signs a public key with an authority and adds everything a leaf certificate needs besides its names. */
export function signCertificate(request: SignRequest): string {
  const issuer = issuerOf(request.authority.certificate);
  return writeCertificate(
    {
      issuer: issuer.name,
      subject: request.subject,
      notBefore: request.notBefore,
      notAfter: Math.min(request.notAfter, issuer.info.notAfter),
      publicKey: request.publicKey,
      extensions: [
        ...(request.keyUsage === 0 ? [] : [keyUsageExtension(request.keyUsage)]),
        ...(request.extendedKeyUsages.length === 0 ? [] : [extendedKeyUsageExtension(request.extendedKeyUsages)]),
        basicConstraintsExtension({ isAuthority: false }),
        authorityKeyIdentifierExtension(issuer.keyIdentifier),
        ...request.extensions,
      ],
    },
    signingKey(request.authority.privateKey),
  );
}

/** Issues a certificate for servers, clients or both, with a new key unless one is given. */
export async function issueCertificate(options: CertificateOptions): Promise<CertificateAndKey> {
  const privateKey = options.privateKey ?? (await generateKeys(options.algorithm)).privateKey;
  return certificateWithKey({ ...options, privateKey });
}

/** Like issueCertificate, but synchronous with an existing key. */
export function certificateWithKey(options: CertificateOptions & { privateKey: string }): CertificateAndKey {
  const { privateKey } = options;
  const now = options.clock.now();
  const certificate = signCertificate({
    authority: options.authority,
    subject: subjectName(options.commonName, options.organizations),
    publicKey: createPublicKey(signingKey(privateKey)),
    notBefore: now - (options.backdateMs ?? backdateMs),
    notAfter: now + (options.validityMs ?? 365 * day),
    keyUsage: keyUsageBits.digitalSignature | keyUsageBits.keyEncipherment,
    extendedKeyUsages: options.usages.map(
      (usage) => extendedKeyUsageIds[usage === 'server' ? 'serverAuth' : 'clientAuth'],
    ),
    extensions: alternativeNamesExtension(namesOfHosts(options.hosts ?? [])),
  });
  return { certificate, privateKey };
}

/** A self-signed leaf certificate, which cannot sign others. */
export function selfSignedCertificate(
  options: Omit<CertificateOptions, 'authority'> & { privateKey: string },
): CertificateAndKey {
  const { privateKey } = options;
  const key = signingKey(privateKey);
  const publicKey = createPublicKey(key);
  const now = options.clock.now();
  const name = subjectName(options.commonName, options.organizations);
  const certificate = writeCertificate(
    {
      issuer: name,
      subject: name,
      notBefore: now - backdateMs,
      notAfter: now + (options.validityMs ?? 365 * day),
      publicKey,
      extensions: [
        keyUsageExtension(keyUsageBits.digitalSignature | keyUsageBits.keyEncipherment),
        extendedKeyUsageExtension(
          options.usages.map((usage) => extendedKeyUsageIds[usage === 'server' ? 'serverAuth' : 'clientAuth']),
        ),
        basicConstraintsExtension({ isAuthority: false }),
        subjectKeyIdentifierExtension(keyIdentifier(publicKey)),
        ...alternativeNamesExtension(namesOfHosts(options.hosts ?? [])),
      ],
    },
    key,
  );
  return { certificate, privateKey };
}
