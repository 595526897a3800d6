import { createPrivateKey, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { CapstanError, type Clock } from '../machinery/index.ts';
import { authorityEnd, type CertificateAndKey, signCertificate } from './authority.ts';
import {
  type CertificateSubject,
  findInExtensions,
  parseAlternativeNames,
  parseName,
  type SubjectAlternativeNames,
} from './certificate.ts';
import { type DerElement, derObjectId, readDer } from './der.ts';
import { derObjectIdOf, derSequence, derSmallInteger, derTag, wrapperTag, writeDer } from './der-writer.ts';
import { generateKeys, type KeyAlgorithm } from './keys.ts';
import { decodePem, encodePem } from './pem.ts';
import { signerObjection } from './signers.ts';
import {
  alternativeNamesExtension,
  encodedPublicKey,
  extensionIds,
  namesOfHosts,
  signatureAlgorithmOf,
  signedDocument,
  subjectName,
} from './x509-parts.ts';

export interface ParsedCsr extends SubjectAlternativeNames {
  subject: CertificateSubject;
  /** the whole encoded subject, which the certificate copies unchanged */
  subjectBytes: Uint8Array;
  publicKey: KeyObject;
  /** the bytes between the PEM lines */
  der: Buffer;
}

export interface CsrOptions {
  commonName: string;
  organizations?: readonly string[];
  hosts?: readonly string[];
  algorithm?: KeyAlgorithm;
  privateKey?: string;
}

const requestedExtensionsId = '1.2.840.113549.1.9.14';
const attributesTag = wrapperTag(0);

/** Creates a certificate signing request, with a new key unless one is given. */
export async function createCsr(options: CsrOptions): Promise<{ csr: string; privateKey: string }> {
  const privateKey = options.privateKey ?? (await generateKeys(options.algorithm)).privateKey;
  const key = createPrivateKey(privateKey);
  const algorithm = signatureAlgorithmOf(key);
  const extensions = alternativeNamesExtension(namesOfHosts(options.hosts ?? []));
  const attributes =
    extensions.length === 0
      ? []
      : [derSequence(derObjectIdOf(requestedExtensionsId), writeDer(derTag.set, derSequence(...extensions)))];
  const toBeSigned = derSequence(
    derSmallInteger(0),
    subjectName(options.commonName, options.organizations),
    encodedPublicKey(createPublicKey(key)),
    writeDer(attributesTag, ...attributes),
  );
  return { csr: encodePem('CERTIFICATE REQUEST', signedDocument(toBeSigned, algorithm, key)), privateKey };
}

/** Go's errors for an invalid signature by key type. Users see them in refusals. */
const verificationFailures: Readonly<Record<string, string>> = {
  ec: 'x509: ECDSA verification failure',
  rsa: 'crypto/rsa: verification error',
  ed25519: 'x509: Ed25519 verification failure',
};

/** Hashes of the supported signature algorithms. Ed25519 has a hash of its own. */
const signatureHashes: Readonly<Record<string, string | null>> = {
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.3.101.112': null,
};

const structureError = 'asn1: structure error: the block holds no certificate request';
const notElements = 'not the elements of a certificate request';

/**
 * Parses a PEM signing request and verifies that its sender holds the private key. Throws CapstanError CAP_CSR_INVALID.
 */
export async function parseCsr(pem: string): Promise<ParsedCsr> {
  const block = decodePem(pem)[0];
  if (block?.label !== 'CERTIFICATE REQUEST') {
    throw new CapstanError('CAP_CSR_INVALID', 'PEM block type must be CERTIFICATE REQUEST');
  }
  let parsed: ParsedCsr;
  let isGenuine: boolean;
  try {
    const [outer] = elements(block.bytes, [derTag.sequence] as const);
    const [signed, algorithm, signature] = elements(outer.content, [
      derTag.sequence,
      derTag.sequence,
      derTag.bitString,
    ] as const);
    const [, subject, key, attributes] = readDer(signed.content);
    if (!subject || !key) throw new RangeError(notElements);
    const publicKey = createPublicKey({ key: writeDer(key.tag, key.content), format: 'der', type: 'spki' });
    const alternative = attributes?.tag === attributesTag ? requestedNames(attributes.content) : undefined;
    parsed = {
      subject: parseName(subject.content),
      subjectBytes: writeDer(subject.tag, subject.content),
      publicKey,
      der: block.bytes,
      ...parseAlternativeNames(alternative ?? Buffer.alloc(0)),
    };
    const hash = signatureHashes[signatureAlgorithm(algorithm.content)];
    const toBeSigned = writeDer(signed.tag, signed.content);
    if (signature.content[0] !== 0) throw new RangeError('the signature is no whole number of bytes');
    isGenuine = hash !== undefined && verify(hash, toBeSigned, publicKey, signature.content.subarray(1));
  } catch (error) {
    throw new CapstanError('CAP_CSR_INVALID', structureError, { cause: error });
  }
  if (isGenuine) return parsed;
  const words = verificationFailures[parsed.publicKey.asymmetricKeyType ?? ''] ?? structureError;
  throw new CapstanError('CAP_CSR_INVALID', words);
}

/**
 * Reads elements with exactly these tags. The signature does not cover everything, so the rest must have a single
 * encoding.
 */
function elements<const T extends readonly number[]>(bytes: Buffer, tags: T): { [index in keyof T]: DerElement } {
  const found = readDer(bytes);
  if (!hasTags(found, tags)) throw new RangeError(notElements);
  return found;
}

function hasTags<T extends readonly number[]>(
  found: readonly DerElement[],
  tags: T,
): found is { [index in keyof T]: DerElement } {
  return found.length === tags.length && found.every(({ tag }, index) => tag === tags[index]);
}

/** Id of a signature algorithm. Its parameters must be absent or, for RSA, null. */
function signatureAlgorithm(bytes: Buffer): string {
  const [id, parameters, ...more] = readDer(bytes);
  const hasParameters = parameters !== undefined && (parameters.tag !== derTag.null || parameters.content.length > 0);
  if (id?.tag !== derTag.objectId || hasParameters || more.length > 0) {
    throw new RangeError('not a signature algorithm');
  }
  return derObjectId(id.content);
}

/** Finds the subjectAltName among the requested extensions. */
function requestedNames(attributes: Buffer): Buffer | undefined {
  for (const attribute of readDer(attributes)) {
    const [id, values] = readDer(attribute.content);
    if (!id || !values) throw new RangeError(notElements);
    if (derObjectId(id.content) !== requestedExtensionsId) continue;
    const [extensions] = readDer(values.content);
    return extensions && findInExtensions(extensions.content, extensionIds.subjectAlternativeName);
  }
  return undefined;
}

export interface SignCsrOptions {
  csr: string | ParsedCsr;
  authority: CertificateAndKey;
  signerName: string;
  /** as in CertificateSigningRequest spec.usages, e.g. `client auth` */
  usages: readonly string[];
  /** requested validity; limited to between ten minutes and `maxValidityMs` */
  expirationSeconds?: number;
  /** default one year */
  maxValidityMs?: number;
  clock: Clock;
}

const minute = 60 * 1000;
const hour = 60 * minute;

/** Bits of the keyUsage extension by their names in the certificates API. */
const keyUsageBits: Readonly<Record<string, number>> = {
  signing: 1,
  'digital signature': 1,
  'content commitment': 2,
  'key encipherment': 4,
  'data encipherment': 8,
  'key agreement': 16,
  'cert sign': 32,
  'crl sign': 64,
  'encipher only': 128,
  'decipher only': 256,
};

const extendedUsageIds: Readonly<Record<string, string>> = {
  any: '2.5.29.37.0',
  'server auth': '1.3.6.1.5.5.7.3.1',
  'client auth': '1.3.6.1.5.5.7.3.2',
  'code signing': '1.3.6.1.5.5.7.3.3',
  'email protection': '1.3.6.1.5.5.7.3.4',
  's/mime': '1.3.6.1.5.5.7.3.4',
  'ipsec end system': '1.3.6.1.5.5.7.3.5',
  'ipsec tunnel': '1.3.6.1.5.5.7.3.6',
  'ipsec user': '1.3.6.1.5.5.7.3.7',
  timestamping: '1.3.6.1.5.5.7.3.8',
  'ocsp signing': '1.3.6.1.5.5.7.3.9',
  'microsoft sgc': '1.3.6.1.4.1.311.10.3.3',
  'netscape sgc': '2.16.840.1.113730.4.1',
};

function translateUsages(usages: readonly string[]): { keyUsage: number; extendedKeyUsages: string[] } {
  let keyUsage = 0;
  const extended = new Set<string>();
  const unknown: string[] = [];
  for (const usage of usages) {
    const bit = Object.hasOwn(keyUsageBits, usage) ? keyUsageBits[usage] : undefined;
    const id = Object.hasOwn(extendedUsageIds, usage) ? extendedUsageIds[usage] : undefined;
    if (bit !== undefined) keyUsage |= bit;
    else if (id !== undefined) extended.add(id);
    else unknown.push(usage);
  }
  if (unknown.length > 0) {
    throw new CapstanError(
      'CAP_CSR_REFUSED',
      `unrecognized usage values: [${unknown.map((usage) => JSON.stringify(usage)).join(' ')}]`,
    );
  }
  return { keyUsage, extendedKeyUsages: [...extended].sort() };
}

/**
 * Signs a request by the rules of its signer, as kube-controller-manager does. Subject and names come from the sender,
 * usages and lifetime from the signer. Throws CapstanError CAP_CSR_REFUSED with the reason for the `Failed` condition,
 * CAP_CSR_INVALID when the request cannot be read.
 */
export async function signCsr(options: SignCsrOptions): Promise<string> {
  const csr = typeof options.csr === 'string' ? await parseCsr(options.csr) : options.csr;
  const objection = signerObjection(csr, options.usages, options.signerName);
  if (objection !== undefined) throw new CapstanError('CAP_CSR_REFUSED', objection);
  const usages = translateUsages(options.usages);
  const now = options.clock.now();
  const backdate = 5 * minute;
  const most = options.maxValidityMs ?? 365 * 24 * hour;
  const asked = options.expirationSeconds === undefined ? most : options.expirationSeconds * 1000;
  const validity = Math.min(Math.max(asked, 10 * minute), most);
  if (now >= authorityEnd(options.authority.certificate)) {
    throw new CapstanError('CAP_CSR_REFUSED', 'the certificate authority has expired', {
      hint: 'renew the authority before signing anything with it',
    });
  }
  return signCertificate({
    authority: options.authority,
    subject: csr.subjectBytes,
    publicKey: csr.publicKey,
    notBefore: now - backdate,
    // The backdating shortens only long-lived certificates.
    notAfter: now + validity - (validity < 8 * hour ? 0 : backdate),
    ...usages,
    extensions: alternativeNamesExtension(csr),
  });
}
