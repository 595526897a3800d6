import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { must } from '../machinery/index.ts';
import { type DerElement, derObjectId, derText, firstDer, readDer } from './der.ts';
import { derTag, writeDer } from './der-writer.ts';

export interface SubjectAlternativeNames {
  dnsNames: string[];
  ipAddresses: string[];
  emailAddresses: string[];
  uris: string[];
}

export interface CertificateSubject {
  commonName: string;
  /** every O of the subject, in order: the groups of a client */
  organizations: string[];
}

export interface CertificateInfo extends SubjectAlternativeNames {
  subject: CertificateSubject;
  issuer: CertificateSubject;
  isAuthority: boolean;
  /** lower-case hex */
  serialNumber: string;
  /** milliseconds since the epoch */
  notBefore: number;
  notAfter: number;
  /** SHA-256 of the DER bytes, lower-case hex */
  fingerprint: string;
  /** object ids of the extended key usages */
  extendedKeyUsages: string[];
}

export const extendedKeyUsageIds = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

const commonNameId = '2.5.4.3';
const organizationId = '2.5.4.10';
const subjectAltNameId = '2.5.29.17';
const contextTag = (number: number): number => 0xa0 | number;

/** Parses the CN (the last one, as Go does) and all O values of an encoded Name. */
export function parseName(content: Buffer): CertificateSubject {
  const subject: CertificateSubject = { commonName: '', organizations: [] };
  for (const relativeName of readDer(content)) {
    for (const attribute of readDer(relativeName.content)) {
      const [id, value] = readDer(attribute.content);
      if (id === undefined || value === undefined) continue;
      const type = derObjectId(id.content);
      if (type === commonNameId) subject.commonName = derText(value);
      else if (type === organizationId) subject.organizations.push(derText(value));
    }
  }
  return subject;
}

/** Formats 16 bytes by RFC 5952. */
function formatIpv6(bytes: Buffer): string {
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(bytes.readUInt16BE(i).toString(16));
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

/** Parses the value of a subjectAltName extension. */
export function parseAlternativeNames(value: Buffer): SubjectAlternativeNames {
  const names: SubjectAlternativeNames = { dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [] };
  for (const { tag, content } of readDer(readDer(value)[0]?.content ?? Buffer.alloc(0))) {
    if (tag === 0x81) names.emailAddresses.push(content.toString('latin1'));
    else if (tag === 0x82) names.dnsNames.push(content.toString('latin1'));
    else if (tag === 0x86) names.uris.push(content.toString('latin1'));
    else if (tag === 0x87) {
      if (content.length === 4) names.ipAddresses.push([...content].join('.'));
      else if (content.length === 16) names.ipAddresses.push(formatIpv6(content));
    }
  }
  return names;
}

/** Fields of the signed part of a certificate, starting with the serial number. */
function certificateFields(der: Buffer): DerElement[] {
  const fields = readDer(firstDer(firstDer(der).content).content);
  return fields[0]?.tag === contextTag(0) ? fields.slice(1) : fields;
}

function extensionOf(fields: readonly DerElement[], id: string): Buffer | undefined {
  const wrapped = fields.find(({ tag }) => tag === contextTag(3));
  return wrapped === undefined ? undefined : findInExtensions(firstDer(wrapped.content).content, id);
}

/** Finds the value of an extension in an encoded list. */
export function findInExtensions(extensions: Buffer, id: string): Buffer | undefined {
  for (const extension of readDer(extensions)) {
    const parts = readDer(extension.content);
    const [first] = parts;
    const last = parts.at(-1);
    if (!first || !last) throw new RangeError('an extension is empty');
    if (derObjectId(first.content) === id) return last.content;
  }
  return undefined;
}

/** Finds the value of an extension in an encoded certificate. */
export function findExtension(der: Buffer, id: string): Buffer | undefined {
  return extensionOf(certificateFields(der), id);
}

/** Returns the encoded subject of a certificate unchanged. */
export function encodedSubject(der: Buffer): Buffer {
  return writeDer(derTag.sequence, must(certificateFields(der)[4], 'a subject').content);
}

/**
 * Parses a certificate (PEM, DER or X509Certificate) independently of the X.509 writer. Names are decoded from the
 * bytes, because the text forms of TLS libraries are ambiguous if a value contains separators. Throws on invalid
 * certificates.
 */
export function parseCertificate(source: string | Buffer | X509Certificate): CertificateInfo {
  const certificate = source instanceof X509Certificate ? source : new X509Certificate(source);
  const fields = certificateFields(certificate.raw);
  const alternative = extensionOf(fields, subjectAltNameId);
  return {
    subject: parseName(must(fields[4], 'a subject').content),
    issuer: parseName(must(fields[2], 'an issuer').content),
    isAuthority: certificate.ca,
    serialNumber: certificate.serialNumber.toLowerCase(),
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    // Node's types claim that it is always present, but it is undefined without the extension.
    extendedKeyUsages: (certificate.keyUsage as string[] | undefined) ?? [],
    ...(alternative === undefined
      ? { dnsNames: [], ipAddresses: [], emailAddresses: [], uris: [] }
      : parseAlternativeNames(alternative)),
  };
}

/** Hash for `kubeadm join --discovery-token-ca-cert-hash`: SHA-256 of the authority's public key. */
export function caCertHash(certificatePem: string): string {
  const spki = new X509Certificate(certificatePem).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}

/** Reports whether an authority signed a certificate, and the certificate belongs to a private key. */
export function isMatchingPair(
  certificatePem: string,
  privateKeyPem: string,
  authorityCertificatePem?: string,
): boolean {
  try {
    const certificate = new X509Certificate(certificatePem);
    if (!certificate.checkPrivateKey(createPrivateKey(privateKeyPem))) return false;
    if (authorityCertificatePem === undefined) return true;
    const authority = new X509Certificate(authorityCertificatePem);
    return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
  } catch {
    return false;
  }
}
