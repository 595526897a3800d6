import { createHash, type KeyObject, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { must, parseIp } from '../machinery/index.ts';
import type { SubjectAlternativeNames } from './certificate.ts';
import { firstDer, readDer } from './der.ts';
import {
  contextTag,
  derBitString,
  derNamedBits,
  derObjectIdOf,
  derSequence,
  derSmallInteger,
  derTag,
  writeDer,
} from './der-writer.ts';

/** Bits of the keyUsage extension. */
export const keyUsageBits = {
  digitalSignature: 1,
  contentCommitment: 2,
  keyEncipherment: 4,
  dataEncipherment: 8,
  keyAgreement: 16,
  keyCertSign: 32,
  crlSign: 64,
  encipherOnly: 128,
  decipherOnly: 256,
} as const;

export const extensionIds = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

function extension(id: string, value: Uint8Array, { isCritical = false }: { isCritical?: boolean } = {}): Buffer {
  return derSequence(
    derObjectIdOf(id),
    ...(isCritical ? [writeDer(derTag.boolean, Buffer.of(0xff))] : []),
    writeDer(derTag.octetString, value),
  );
}

function nameAttribute(id: string, text: string): Buffer {
  const value = writeDer(derTag.utf8String, Buffer.from(text, 'utf8'));
  return writeDer(derTag.set, derSequence(derObjectIdOf(id), value));
}

/** Encodes a Name: groups first, each in an RDN of its own, then the user. kubeadm and Go use the same order. */
export function subjectName(commonName: string, organizations: readonly string[] = []): Buffer {
  return derSequence(
    ...organizations.map((organization) => nameAttribute('2.5.4.10', organization)),
    nameAttribute('2.5.4.3', commonName),
  );
}

/** Separates DNS names and addresses by their form. */
export function namesOfHosts(hosts: readonly string[]): SubjectAlternativeNames {
  return {
    dnsNames: hosts.filter((host) => isIP(host) === 0),
    ipAddresses: hosts.filter((host) => isIP(host) !== 0),
    emailAddresses: [],
    uris: [],
  };
}

/** Encodes the subjectAltName extension; empty without names. */
export function alternativeNamesExtension(names: SubjectAlternativeNames): Buffer[] {
  const texts = (tag: number, values: readonly string[]): Buffer[] =>
    values.map((value) => writeDer(contextTag(tag), Buffer.from(value, 'latin1')));
  const all = [
    ...texts(2, names.dnsNames),
    ...names.ipAddresses.map((address) => writeDer(contextTag(7), must(parseIp(address), 'parseIp(address)'))),
    ...texts(1, names.emailAddresses),
    ...texts(6, names.uris),
  ];
  return all.length === 0 ? [] : [extension(extensionIds.subjectAlternativeName, derSequence(...all))];
}

export function keyUsageExtension(flags: number): Buffer {
  return extension(extensionIds.keyUsage, derNamedBits(flags), { isCritical: true });
}

export function extendedKeyUsageExtension(objectIds: readonly string[]): Buffer {
  return extension(extensionIds.extendedKeyUsage, derSequence(...objectIds.map(derObjectIdOf)));
}

export function basicConstraintsExtension({
  isAuthority,
  pathLength,
}: {
  isAuthority: boolean;
  pathLength?: number | undefined;
}): Buffer {
  const parts = [
    ...(isAuthority ? [writeDer(derTag.boolean, Buffer.of(0xff))] : []),
    ...(pathLength === undefined ? [] : [derSmallInteger(pathLength)]),
  ];
  return extension(extensionIds.basicConstraints, derSequence(...parts), { isCritical: true });
}

/** The usual key identifier: SHA-1 of the public key bits (RFC 5280, 4.2.1.2). */
export function keyIdentifier(publicKey: KeyObject): Buffer {
  const bits = must(readDer(firstDer(encodedPublicKey(publicKey)).content)[1], 'the bits of a public key');
  return createHash('sha1').update(bits.content.subarray(1)).digest();
}

export function subjectKeyIdentifierExtension(identifier: Uint8Array): Buffer {
  return extension(extensionIds.subjectKeyIdentifier, writeDer(derTag.octetString, identifier));
}

export function authorityKeyIdentifierExtension(identifier: Uint8Array): Buffer {
  return extension(extensionIds.authorityKeyIdentifier, derSequence(writeDer(contextTag(0), identifier)));
}

/** Encodes a public key as in certificates (SubjectPublicKeyInfo). */
export function encodedPublicKey(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' }) as Buffer;
}

/** Signature algorithm of a key: the hash, and the encoded algorithm. */
export interface SignatureAlgorithm {
  hash: string;
  identifier: Buffer;
}

const ecdsa = (id: string, hash: string): SignatureAlgorithm => ({ hash, identifier: derSequence(derObjectIdOf(id)) });
const ecdsaByCurve: Readonly<Record<string, SignatureAlgorithm>> = {
  prime256v1: ecdsa('1.2.840.10045.4.3.2', 'sha256'),
  secp384r1: ecdsa('1.2.840.10045.4.3.3', 'sha384'),
  secp521r1: ecdsa('1.2.840.10045.4.3.4', 'sha512'),
};
const rsaWithSha256: SignatureAlgorithm = {
  hash: 'sha256',
  identifier: derSequence(derObjectIdOf('1.2.840.113549.1.1.11'), writeDer(derTag.null)),
};

export function signatureAlgorithmOf(key: KeyObject): SignatureAlgorithm {
  if (key.asymmetricKeyType === 'rsa') return rsaWithSha256;
  const found = ecdsaByCurve[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key.asymmetricKeyType === 'ec' && found !== undefined) return found;
  throw new TypeError(`keys of type ${key.asymmetricKeyType ?? 'unknown'} are not supported; use RSA or an EC key`);
}

/** Builds a signed document: the content, the algorithm and the signature. Certificates and requests have this form. */
export function signedDocument(toBeSigned: Buffer, algorithm: SignatureAlgorithm, privateKey: KeyObject): Buffer {
  const signature = sign(algorithm.hash, toBeSigned, privateKey);
  return derSequence(toBeSigned, algorithm.identifier, derBitString(signature));
}
