import type { Client } from '../../../client/index.ts';
import type { Clock } from '../../../machinery/index.ts';
import {
  type CertificateAndKey,
  createAuthority,
  createServiceAccountKeyPair,
  issueCertificate,
} from '../../../pki/index.ts';
import { renderKubeconfig } from '../../kubeconfigs.ts';
import type { LabContainer, LabPod, ProgramLab } from './lab.ts';

export const etcdImage = 'registry.k8s.io/etcd:3.5.21-0';
export const apiServerImage = 'registry.k8s.io/kube-apiserver:v1.33.1';

/** Authorities and keys of one control plane. */
export interface PlanePki {
  readonly authority: CertificateAndKey;
  readonly etcdAuthority: CertificateAndKey;
  readonly serviceAccounts: { readonly privateKey: string; readonly publicKey: string };
  /** files of an etcd Pod that serves under these names */
  etcdFiles(...hosts: readonly string[]): Promise<Record<string, string>>;
  /** files of an API server Pod that serves under these names */
  apiFiles(...hosts: readonly string[]): Promise<Record<string, string>>;
  kubeconfig(server: string, user: string, ...groups: readonly string[]): Promise<string>;
}

export async function createPlanePki(clock: Clock): Promise<PlanePki> {
  const authority = await createAuthority({ commonName: 'kubernetes', clock });
  const etcdAuthority = await createAuthority({ commonName: 'etcd-ca', clock });
  const serviceAccounts = await createServiceAccountKeyPair();
  return {
    authority,
    etcdAuthority,
    serviceAccounts,
    async etcdFiles(...hosts) {
      const server = await issueCertificate({
        authority: etcdAuthority,
        commonName: 'etcd',
        hosts: [...hosts, 'localhost', '127.0.0.1'],
        usages: ['server', 'client'],
        clock,
      });
      return {
        '/pki/ca.crt': etcdAuthority.certificate,
        '/pki/server.crt': server.certificate,
        '/pki/server.key': server.privateKey,
      };
    },
    async apiFiles(...hosts) {
      const server = await issueCertificate({ authority, commonName: 'apiserver', hosts, usages: ['server'], clock });
      const client = await issueCertificate({
        authority: etcdAuthority,
        commonName: 'apiserver-etcd-client',
        usages: ['client'],
        clock,
      });
      return {
        '/pki/ca.crt': authority.certificate,
        '/pki/apiserver.crt': server.certificate,
        '/pki/apiserver.key': server.privateKey,
        '/pki/sa.pub': serviceAccounts.publicKey,
        '/pki/sa.key': serviceAccounts.privateKey,
        '/pki/etcd/ca.crt': etcdAuthority.certificate,
        '/pki/etcd/client.crt': client.certificate,
        '/pki/etcd/client.key': client.privateKey,
      };
    },
    async kubeconfig(server, user, ...groups) {
      const pair = await issueCertificate({
        authority,
        commonName: user,
        organizations: groups,
        usages: ['client'],
        clock,
      });
      const clientCertificate = { certificate: pair.certificate, key: pair.privateKey };
      const certificateAuthority = authority.certificate;
      return renderKubeconfig({ server, certificateAuthority, user, clientCertificate }, 'lab');
    },
  };
}

/** Command line of a member. */
export function etcdArgs(name: string, more: readonly string[] = []): string[] {
  return [
    'etcd',
    `--name=${name}`,
    '--data-dir=/data',
    '--listen-client-urls=https://0.0.0.0:2379',
    '--listen-peer-urls=https://0.0.0.0:2380',
    '--listen-metrics-urls=http://0.0.0.0:2381',
    `--advertise-client-urls=https://${name}:2379`,
    `--initial-advertise-peer-urls=https://${name}:2380`,
    '--cert-file=/pki/server.crt',
    '--key-file=/pki/server.key',
    '--trusted-ca-file=/pki/ca.crt',
    '--client-cert-auth',
    ...more,
  ];
}

export function initialCluster(...names: readonly string[]): string {
  return names.map((name) => `${name}=https://${name}:2380`).join(',');
}

/** Command line of an API server. */
export function apiArgs(etcdServers: string, more: readonly string[] = []): string[] {
  return [
    'kube-apiserver',
    `--etcd-servers=${etcdServers}`,
    '--etcd-cafile=/pki/etcd/ca.crt',
    '--etcd-certfile=/pki/etcd/client.crt',
    '--etcd-keyfile=/pki/etcd/client.key',
    '--client-ca-file=/pki/ca.crt',
    '--tls-cert-file=/pki/apiserver.crt',
    '--tls-private-key-file=/pki/apiserver.key',
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-account-key-file=/pki/sa.pub',
    '--service-account-signing-key-file=/pki/sa.key',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--enable-bootstrap-token-auth=true',
    '--secure-port=6443',
    ...more,
  ];
}

/** Starts an etcd member and an API server, and waits until it answers. */
export async function startPlane(
  lab: ProgramLab,
  pki: PlanePki,
): Promise<{ etcd: LabPod; api: LabPod; etcdRun: LabContainer; apiRun: LabContainer }> {
  const etcd = lab.pod('etcd-0', await pki.etcdFiles('etcd-0'));
  const etcdRun = etcd.start(etcdImage, etcdArgs('etcd-0', [`--initial-cluster=${initialCluster('etcd-0')}`]));
  const api = lab.pod('api-0', await pki.apiFiles('api-0'));
  const apiRun = api.start(apiServerImage, apiArgs('https://etcd-0:2379'));
  await lab.until(() => isServing(lab, 'api-0'));
  return { etcd, api, etcdRun, apiRun };
}

export function isServing(lab: ProgramLab, name: string): boolean {
  try {
    return lab.dial(name, 6443).api !== undefined;
  } catch {
    return false;
  }
}

/** Administrator client for the API in a Pod. */
export async function adminOf(lab: ProgramLab, pki: PlanePki, name: string): Promise<Client> {
  const pair = await issueCertificate({
    authority: pki.authority,
    commonName: 'admin',
    organizations: ['system:masters'],
    usages: ['client'],
    clock: lab.clock,
  });
  return lab.dial(name, 6443).api!.connect({
    certificateAuthority: pki.authority.certificate,
    clientCertificate: { certificate: pair.certificate, key: pair.privateKey },
    serverName: name,
  });
}
