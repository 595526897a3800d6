import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto';
import { clusterNameLabel, type Secret } from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import type { OwnerReference } from '../../../machinery/index.ts';
import { type CertificateAndKey, signingKey, splitCertificates } from '../../../pki/index.ts';
import { clusterSecretName, clusterSecretType } from '../names.ts';
import type { CertificatePlan } from './plan.ts';
import { type ClusterCertificate, ClusterCertificateError } from './types.ts';

const certificateKey = 'tls.crt';
const privateKeyKey = 'tls.key';

export function certificateSecretKey(cluster: ObjectKey, plan: Pick<CertificatePlan, 'purpose'>): ObjectKey {
  return { namespace: cluster.namespace ?? '', name: clusterSecretName(cluster.name, plan.purpose) };
}

/** Returns the text under a key of a Secret; empty counts as absent. */
export function secretText(secret: Secret | undefined, key: string): string | undefined {
  const data = secret?.data?.[key];
  return data === undefined || data === '' ? undefined : Buffer.from(data, 'base64').toString('utf8');
}

/** Returns certificate and key of a CA Secret; undefined unless both exist. */
export function authorityFromSecret(secret: Secret | undefined): CertificateAndKey | undefined {
  const certificate = secretText(secret, certificateKey);
  const privateKey = secretText(secret, privateKeyKey);
  return certificate === undefined || privateKey === undefined ? undefined : { certificate, privateKey };
}

/** Reads and verifies the pair in a Secret: a broken pair would break every machine that receives it. */
export function certificateFromSecret(secret: Secret, plan: CertificatePlan): ClusterCertificate {
  const certificate = secretText(secret, certificateKey);
  const privateKey = secretText(secret, privateKeyKey);
  const refuse = (problem: string, hint: string, cause?: unknown): never => {
    throw new ClusterCertificateError(objectKey(secret), problem, { missing: false, hint, cause });
  };
  if (certificate === undefined) return refuse(`has no ${certificateKey}`, 'put the PEM certificate there');
  if (privateKey === undefined && plan.keyFile !== undefined) {
    return refuse(`has no ${privateKeyKey}`, 'put the PEM private key there');
  }
  let parts: { holders: readonly (X509Certificate | KeyObject)[]; key: KeyObject | undefined };
  try {
    parts = {
      holders:
        plan.purpose === 'sa'
          ? [createPublicKey(certificate)]
          : splitCertificates(certificate).map((one) => new X509Certificate(one)),
      key: privateKey === undefined ? undefined : signingKey(privateKey),
    };
  } catch (cause) {
    return refuse('does not hold keys in PEM form', 'replace its contents', cause);
  }
  const { holders, key } = parts;
  if (holders.length === 0) return refuse(`has no PEM certificate in ${certificateKey}`, 'replace its contents');
  if (key !== undefined && !holders.some((holder) => isPair(holder, key))) {
    return refuse('holds a private key that is not the one of its certificate', 'make them a pair');
  }
  return { plan, certificate, ...(privateKey !== undefined && { privateKey }), secret };
}

/** The `sa` Secret may hold a certificate or a public key; both yield the public key. */
function isPair(holder: X509Certificate | KeyObject, key: KeyObject): boolean {
  return holder instanceof X509Certificate ? holder.checkPrivateKey(key) : holder.equals(createPublicKey(key));
}

/** Builds the Secret of an own pair. */
export function certificateSecret(
  cluster: ObjectKey,
  plan: CertificatePlan,
  pair: CertificateAndKey,
  owner: OwnerReference,
): Secret {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { namespace = '', name } = certificateSecretKey(cluster, plan);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: { [clusterNameLabel]: cluster.name }, ownerReferences: [owner] },
    type: clusterSecretType,
    data: { [certificateKey]: base64(pair.certificate), [privateKeyKey]: base64(pair.privateKey) },
  };
}
