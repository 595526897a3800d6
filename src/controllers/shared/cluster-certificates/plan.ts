import { posix } from 'node:path';
import type { KubeadmClusterConfiguration } from '../../../api/index.ts';
import type { KeyAlgorithm } from '../../../pki/index.ts';

/** Purpose of a key pair of a workload cluster; also the suffix of its Secret's name. */
export type CertificatePurpose = 'ca' | 'etcd' | 'proxy' | 'sa' | 'apiserver-etcd-client' | 'cca' | 'peer-etcd';

/** A required key pair: its paths on a machine, and how it is created. */
export interface CertificatePlan {
  purpose: CertificatePurpose;
  certificateFile: string;
  /** absent if the machine must not receive the key */
  keyFile?: string;
  /** user-supplied and never created here; the private key may be missing */
  external: boolean;
  /** validity of a CA; default ten years */
  validityDays?: number;
  algorithm: KeyAlgorithm;
}

export const defaultCertificatesDirectory = '/etc/kubernetes/pki';
export const defaultRke2Directory = '/var/lib/rancher/rke2';

/** Fast to generate, and accepted by every supported Kubernetes version; see docs/decisions/007. */
export const defaultKeyAlgorithm: KeyAlgorithm = 'ECDSA-P256';

/** Pairs of a control plane, in the order they are written to a machine. */
export function controlPlaneCertificatePlans(
  configuration: KubeadmClusterConfiguration | undefined,
): CertificatePlan[] {
  const directory = configuration?.certificatesDir ?? defaultCertificatesDirectory;
  const external = configuration?.etcd?.external;
  const pair = (purpose: CertificatePurpose, certificate: string, key: string): CertificatePlan => ({
    purpose,
    certificateFile: posix.join(directory, certificate),
    keyFile: posix.join(directory, key),
    external: false,
    algorithm: configuration?.encryptionAlgorithm ?? defaultKeyAlgorithm,
    ...(configuration?.caCertificateValidityPeriodDays !== undefined && {
      validityDays: configuration.caCertificateValidityPeriodDays,
    }),
  });
  return [
    pair('ca', 'ca.crt', 'ca.key'),
    external
      ? { purpose: 'etcd', certificateFile: external.caFile, external: true, algorithm: defaultKeyAlgorithm }
      : pair('etcd', 'etcd/ca.crt', 'etcd/ca.key'),
    pair('proxy', 'front-proxy-ca.crt', 'front-proxy-ca.key'),
    pair('sa', 'sa.pub', 'sa.key'),
    ...(external
      ? [
          {
            purpose: 'apiserver-etcd-client' as const,
            certificateFile: external.certFile,
            keyFile: external.keyFile,
            external: true,
            algorithm: defaultKeyAlgorithm,
          },
        ]
      : []),
  ];
}

/** Workers need only the CA certificate. */
export function workerCertificatePlans(caCertPath: string | undefined): CertificatePlan[] {
  return [
    {
      purpose: 'ca',
      certificateFile: caCertPath ?? posix.join(defaultCertificatesDirectory, 'ca.crt'),
      external: false,
      algorithm: defaultKeyAlgorithm,
    },
  ];
}

/** Pairs supplied to rke2: separate CAs for servers, clients and etcd. rke2 creates the rest. */
export function rke2CertificatePlans(dataDirectory: string | undefined, options: { etcd: boolean }): CertificatePlan[] {
  const directory = posix.join(dataDirectory || defaultRke2Directory, 'server/tls');
  const pair = (purpose: CertificatePurpose, name: string): CertificatePlan => ({
    purpose,
    certificateFile: posix.join(directory, `${name}.crt`),
    keyFile: posix.join(directory, `${name}.key`),
    external: false,
    algorithm: defaultKeyAlgorithm,
  });
  const etcd = [pair('peer-etcd', 'etcd/peer-ca'), pair('etcd', 'etcd/server-ca')];
  return [pair('ca', 'server-ca'), pair('cca', 'client-ca'), ...(options.etcd ? etcd : [])];
}
