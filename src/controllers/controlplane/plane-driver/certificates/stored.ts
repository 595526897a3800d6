import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { Secret } from '../../../../api/index.ts';
import { parseKubeconfig } from '../../../../client/index.ts';
import type { ObservedCredential, PlannedCredential } from '../../../../hosting/index.ts';
import { type CertificateAndKey, isMatchingPair, parseCertificate, splitCertificates } from '../../../../pki/index.ts';
import { secretText } from '../../../shared/index.ts';

/** Cached Secrets are immutable, so each pair is verified once. */
const known = new WeakMap<Secret, Map<string, CertificateAndKey | undefined>>();

/** Returns the key pair in a Secret; undefined unless both halves exist and match. */
export function storedPair(planned: PlannedCredential, secret: Secret | undefined): CertificateAndKey | undefined {
  if (!secret) return undefined;
  const pairs = known.get(secret) ?? new Map<string, CertificateAndKey | undefined>();
  if (!pairs.has(planned.name)) {
    pairs.set(planned.name, readPair(planned, secret));
    known.set(secret, pairs);
  }
  return pairs.get(planned.name);
}

function readPair(planned: PlannedCredential, secret: Secret): CertificateAndKey | undefined {
  const certificate = firstText(secret, planned.place.certificate);
  const privateKey = firstText(secret, planned.place.privateKey);
  if (certificate === undefined || privateKey === undefined) return undefined;
  const isPair = planned.kind === 'key' ? isKeyPair(certificate, privateKey) : isMatchingPair(certificate, privateKey);
  return isPair ? { certificate, privateKey } : undefined;
}

function firstText(secret: Secret | undefined, keys: readonly string[] | undefined): string | undefined {
  for (const key of keys ?? []) {
    const text = secretText(secret, key);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Of several public keys, the first belongs to the signing key. */
function isKeyPair(publicKeys: string, privateKey: string): boolean {
  try {
    return createPublicKey(publicKeys).equals(createPublicKey(createPrivateKey(privateKey)));
  } catch {
    return false;
  }
}

/** Inputs for the check of a leaf: the signer and the trusted CAs. */
export interface Vouching {
  /** PEM of the current CA */
  readonly authority: string;
  /** PEM of all trusted CAs */
  readonly trust: string;
  /** intermediate certificates to serve after the leaf */
  readonly chain?: string;
}

/** Parses the leaf in a Secret; undefined if it is missing or unusable. */
export function observeLeaf(
  planned: Extract<PlannedCredential, { kind: 'certificate' | 'kubeconfig' }>,
  secret: Secret | undefined,
  vouching: Vouching,
): ObservedCredential | undefined {
  if (!secret) return undefined;
  try {
    return planned.kind === 'kubeconfig'
      ? observeKubeconfig(planned, secret, vouching)
      : observeCertificate(planned, secret, vouching);
  } catch {
    // an unreadable leaf is reissued
    return undefined;
  }
}

function observeCertificate(
  planned: Extract<PlannedCredential, { kind: 'certificate' }>,
  secret: Secret,
  vouching: Vouching,
): ObservedCredential | undefined {
  const pair = storedPair(planned, secret);
  if (!pair) return undefined;
  const chain = splitCertificates(pair.certificate).slice(1).join('');
  const trusts = planned.trustKeys.every((key) => containsAll(secretText(secret, key), vouching.trust));
  return observed(pair, vouching, { trustsAll: trusts && chain === (vouching.chain ?? '') });
}

function observeKubeconfig(
  planned: Extract<PlannedCredential, { kind: 'kubeconfig' }>,
  secret: Secret,
  vouching: Vouching,
): ObservedCredential | undefined {
  const { kubeconfig = [], internalKubeconfig = [] } = planned.place;
  const texts = [...kubeconfig, ...internalKubeconfig].map((key) => secretText(secret, key));
  if (texts.length === 0 || texts.some((text) => text === undefined)) return undefined;
  const parsed = texts.map((text) => readKubeconfig(text ?? ''));
  const first = parsed[0];
  if (!first) return undefined;
  const outside = kubeconfig.length > 0 ? parsed[0]?.server : undefined;
  const inside = internalKubeconfig.length > 0 ? parsed[kubeconfig.length]?.server : undefined;
  return observed(first.pair, vouching, {
    trustsAll: parsed.every(({ trust }) => containsAll(trust, vouching.trust)),
    ...(outside !== undefined && { server: outside }),
    ...(inside !== undefined && { internalServer: inside }),
  });
}

function observed(
  pair: CertificateAndKey,
  vouching: Vouching,
  more: Pick<ObservedCredential, 'trustsAll' | 'server' | 'internalServer'>,
): ObservedCredential {
  const { notBefore, notAfter, subject, dnsNames, ipAddresses } = parseCertificate(pair.certificate);
  return {
    notBefore,
    notAfter,
    commonName: subject.commonName,
    organizations: subject.organizations,
    hosts: [...dnsNames, ...ipAddresses],
    signedByCurrent: isMatchingPair(pair.certificate, pair.privateKey, vouching.authority),
    ...more,
  };
}

function readKubeconfig(text: string): { server: string; trust: string; pair: CertificateAndKey } {
  const file = parseKubeconfig(text, 'of the cluster');
  const decoded = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString('utf8');
  const cluster = file.clusters?.[0]?.cluster;
  const user = file.users?.[0]?.user;
  return {
    server: cluster?.server ?? '',
    trust: decoded(cluster?.['certificate-authority-data']),
    pair: {
      certificate: decoded(user?.['client-certificate-data']),
      privateKey: decoded(user?.['client-key-data']),
    },
  };
}

/** Compares sets of certificates in any order. CAs that are no longer trusted must be removed, too. */
function containsAll(text: string | undefined, trust: string): boolean {
  if (text === trust) return true;
  const here = splitCertificates(text ?? '');
  const wanted = splitCertificates(trust);
  return here.length === wanted.length && wanted.every((certificate) => here.includes(certificate));
}
