import { createPublicKey, type KeyObject } from 'node:crypto';
import type { JsonGeneralName } from '@peculiar/x509';
import { CapstanError, type Clock } from '../machinery/index.ts';
import { alternativeNames, type CertificateAndKey, signCertificate, subjectName } from './authority.ts';
import {
  type CertificateSubject,
  parseAlternativeNames,
  parseCertificate,
  parseName,
  type SubjectAlternativeNames,
} from './certificate.ts';
import { readDer } from './der.ts';
import { generateKeys, importKeys, type KeyAlgorithm } from './keys.ts';
import { decodePem, encodePem } from './pem.ts';
import { signerObjection } from './signers.ts';
import { loadX509 } from './x509.ts';

export interface ParsedCsr extends SubjectAlternativeNames {
  subject: CertificateSubject;
  /** the whole encoded subject, which a certificate takes over as it is */
  subjectBytes: Uint8Array<ArrayBuffer>;
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

/** Makes a certificate signing request, with a new key unless one is given. */
export async function createCsr(options: CsrOptions): Promise<{ csr: string; privateKey: string }> {
  const [x509, privateKey] = await Promise.all([
    loadX509(),
    options.privateKey ?? generateKeys(options.algorithm).then((pair) => pair.privateKey),
  ]);
  const keys = await importKeys(privateKey);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: await subjectName(options.commonName, options.organizations),
    keys,
    signingAlgorithm: keys.algorithm,
    extensions: await alternativeNames(options.hosts ?? []),
  });
  return { csr: encodePem('CERTIFICATE REQUEST', new Uint8Array(request.rawData)), privateKey };
}

/** What Go says of a signature that does not hold, by kind of key: these words reach users in refusals. */
const verificationFailures: Readonly<Record<string, string>> = {
  ECDSA: 'x509: ECDSA verification failure',
  'RSASSA-PKCS1-v1_5': 'crypto/rsa: verification error',
  Ed25519: 'x509: Ed25519 verification failure',
};

/**
 * Reads a PEM signing request and checks that its sender holds the private key.
 * Throws CapstanError CAP_CSR_INVALID.
 */
export async function parseCsr(pem: string): Promise<ParsedCsr> {
  const block = decodePem(pem)[0];
  if (block?.label !== 'CERTIFICATE REQUEST') {
    throw new CapstanError('CAP_CSR_INVALID', 'PEM block type must be CERTIFICATE REQUEST');
  }
  const x509 = await loadX509();
  let unverified = '';
  try {
    const request = new x509.Pkcs10CertificateRequest(new Uint8Array(block.bytes));
    unverified = verificationFailures[request.publicKey.algorithm.name ?? ''] ?? unverified;
    if (!(await request.verify())) throw new Error('it is signed with another key');
    const alternative = request.getExtension('2.5.29.17');
    const subjectBytes = new Uint8Array(request.subjectName.toArrayBuffer());
    return {
      subject: parseName(readDer(Buffer.from(subjectBytes))[0]!.content),
      subjectBytes,
      publicKey: createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' }),
      der: block.bytes,
      ...(alternative === null
        ? { dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [] }
        : parseAlternativeNames(Buffer.from(alternative.value))),
    };
  } catch (error) {
    const text = unverified === '' ? 'asn1: structure error: the block holds no certificate request' : unverified;
    throw new CapstanError('CAP_CSR_INVALID', text, { cause: error });
  }
}

export interface SignCsrOptions {
  csr: string | ParsedCsr;
  authority: CertificateAndKey;
  signerName: string;
  /** as in CertificateSigningRequest spec.usages, e.g. `client auth` */
  usages: readonly string[];
  /** asked by the sender; kept between ten minutes and `maxValidityMs` */
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
 * Signs a request under the rules of its signer, as kube-controller-manager does: the subject and names are the
 * sender's, usages and lifetime are the signer's. Throws CapstanError CAP_CSR_REFUSED with the reason for the
 * `Failed` condition, CAP_CSR_INVALID when the request cannot be read.
 */
export async function signCsr(options: SignCsrOptions): Promise<string> {
  const csr = typeof options.csr === 'string' ? await parseCsr(options.csr) : options.csr;
  const objection = signerObjection(csr, options.usages, options.signerName);
  if (objection !== undefined) throw new CapstanError('CAP_CSR_REFUSED', objection);
  const usages = translateUsages(options.usages);
  const x509 = await loadX509();
  const now = options.clock.now();
  const backdate = 5 * minute;
  const most = options.maxValidityMs ?? 365 * 24 * hour;
  const asked = options.expirationSeconds === undefined ? most : options.expirationSeconds * 1000;
  const validity = Math.min(Math.max(asked, 10 * minute), most);
  if (now >= parseCertificate(options.authority.certificate).notAfter) {
    throw new CapstanError('CAP_CSR_REFUSED', 'the certificate authority has expired', {
      hint: 'renew the authority before signing anything with it',
    });
  }
  const names: JsonGeneralName[] = [
    ...csr.dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...csr.ipAddresses.map((value) => ({ type: 'ip' as const, value })),
    ...csr.emailAddresses.map((value) => ({ type: 'email' as const, value })),
    ...csr.uris.map((value) => ({ type: 'url' as const, value })),
  ];
  return signCertificate({
    authority: options.authority,
    subject: new x509.Name(csr.subjectBytes),
    publicKey: csr.publicKey,
    notBefore: now - backdate,
    // Only long-lived certificates end earlier by what they were backdated.
    notAfter: now + validity - (validity < 8 * hour ? 0 : backdate),
    ...usages,
    extensions: names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names)],
  });
}
