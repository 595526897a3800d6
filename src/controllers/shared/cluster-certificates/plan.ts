import { posix } from 'node:path';
import type { KubeadmClusterConfiguration } from '../../../api/index.ts';
import type { KeyAlgorithm } from '../../../pki/index.ts';

/** What a pair of keys of a workload cluster is for; also the end of its Secret's name. */
export type CertificatePurpose = 'ca' | 'etcd' | 'proxy' | 'sa' | 'apiserver-etcd-client' | 'cca' | 'peer-etcd';

/** One pair a cluster needs: where it goes on a machine, and how it is made. */
export interface CertificatePlan {
  purpose: CertificatePurpose;
  certificateFile: string;
  /** absent where the machine must not get the key */
  keyFile?: string;
  /** brought by the user, never made here; its key may stay with the user */
  external: boolean;
  /** of an authority; default ten years */
  validityDays?: number;
  algorithm: KeyAlgorithm;
}

export const defaultCertificatesDirectory = '/etc/kubernetes/pki';
export const defaultRke2Directory = '/var/lib/rancher/rke2';

/** See docs/decisions/007: quick to make, and every supported Kubernetes accepts it. */
export const defaultKeyAlgorithm: KeyAlgorithm = 'ECDSA-P256';

/** What a control plane needs, in the order the files are written on a machine. */
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

/** Workers only need to know whom to trust. */
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

/** What rke2 is brought: it trusts servers, clients and members of etcd by authorities of their own, and makes the rest. */
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
