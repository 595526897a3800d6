import type {
  ObservedCredential,
  PlannedCertificate,
  PlannedCredential,
  PlannedKubeconfig,
} from '../../../../hosting/index.ts';
import { type CertificateAndKey, issueCertificate, parseCertificate } from '../../../../pki/index.ts';
import { kubeconfigText } from '../../../shared/index.ts';
import type { EnsureCredentialsOptions } from './ensure.ts';
import { PlaneCredentialError } from './errors.ts';
import type { Vouching } from './stored.ts';

export function everyKey(keys: readonly string[] | undefined, text: string): Record<string, string> {
  return Object.fromEntries((keys ?? []).map((key) => [key, text]));
}

export const joined = (parts: readonly (string | undefined)[]): string =>
  parts
    .filter((part) => part !== undefined)
    .map((part) => (part.endsWith('\n') ? part : `${part}\n`))
    .join('');

/** The first key is the current one; those after it belong to earlier rotations. */
export function firstPublicKey(keys: string): string {
  const end = '-----END PUBLIC KEY-----\n';
  const at = keys.indexOf(end);
  return at < 0 ? keys : keys.slice(0, at + end.length);
}

export function secretShape(planned: PlannedCredential): {
  type?: string;
  labels: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
} {
  return {
    ...(planned.place.type !== undefined && { type: planned.place.type }),
    labels: planned.labels,
    ...(planned.annotations && { annotations: planned.annotations }),
  };
}

/** Issues a leaf certificate into the draft of its Secret. */
export async function makeLeaf(
  options: EnsureCredentialsOptions,
  planned: PlannedCertificate | PlannedKubeconfig,
  vouching: Vouching & { signer: CertificateAndKey },
): Promise<ObservedCredential> {
  const { clock, drafts, namespace } = options;
  if (vouching.signer.privateKey === '') {
    const name = typeof planned.signer === 'string' ? planned.signer : planned.signer.secretName;
    throw new PlaneCredentialError(
      { namespace, name: planned.place.name },
      `cannot be created: the key of ${name} is missing`,
      'bring the certificate too, or the key',
    );
  }
  const pair = await issueCertificate({
    authority: vouching.signer,
    commonName: planned.commonName,
    organizations: planned.organizations,
    usages: planned.kind === 'kubeconfig' ? ['client'] : planned.usages,
    clock,
    validityMs: planned.durationMs,
    algorithm: planned.algorithm,
    ...(planned.kind === 'certificate' && { hosts: planned.hosts }),
  });
  const data =
    planned.kind === 'kubeconfig' ? kubeconfigs(planned, pair, vouching) : certificateData(planned, pair, vouching);
  drafts.put(planned.place.name, { ...secretShape(planned), data });
  const { notBefore, notAfter } = parseCertificate(pair.certificate);
  return {
    notBefore,
    notAfter,
    commonName: planned.commonName,
    organizations: planned.organizations,
    hosts: planned.kind === 'certificate' ? planned.hosts : [],
    signedByCurrent: true,
    trustsAll: true,
    ...(planned.kind === 'kubeconfig' && { server: planned.server, internalServer: planned.internalServer }),
  };
}

function certificateData(
  planned: PlannedCertificate,
  pair: CertificateAndKey,
  vouching: Vouching,
): Record<string, string> {
  return {
    ...everyKey(planned.place.certificate, joined([pair.certificate, vouching.chain])),
    ...everyKey(planned.place.privateKey, pair.privateKey),
    ...everyKey(planned.trustKeys, vouching.trust),
  };
}

function kubeconfigs(planned: PlannedKubeconfig, pair: CertificateAndKey, { trust }: Vouching): Record<string, string> {
  const text = (server: string): string =>
    kubeconfigText({
      server,
      trust,
      pair,
      cluster: planned.clusterEntry,
      user: planned.userEntry,
      context: planned.contextEntry,
    });
  const { kubeconfig, internalKubeconfig } = planned.place;
  return {
    ...(kubeconfig && everyKey(kubeconfig, text(planned.server))),
    ...(internalKubeconfig && everyKey(internalKubeconfig, text(planned.internalServer))),
  };
}
