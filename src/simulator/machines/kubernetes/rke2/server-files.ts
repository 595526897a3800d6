import { renderKubeconfig } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import { readCluster } from '../kubeadm/documents.ts';
import { writeManifests } from '../kubeadm/manifests.ts';
import { parseVersion } from '../kubeadm/version.ts';
import { adminKubeconfig } from './paths.ts';
import { authority, issueClient, tlsDirectory } from './pki.ts';
import { Rke2Refusal } from './refusal.ts';
import type { ServerRun } from './server-run.ts';

export const apiPort = 6443;
const memberSuffixLength = 8;
const hexadecimal = '0123456789abcdef';

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);
export const ownAddress = ({ addresses }: RunningMachine): string => addresses[0] ?? '';
export const peerUrl = (machine: RunningMachine): string => `https://${bracketed(ownAddress(machine))}:2380`;
export const clientUrl = (machine: RunningMachine): string => `https://${bracketed(ownAddress(machine))}:2379`;
/** rke2 appends a random suffix, so that a recreated node is a new member. */
export const memberName = ({ machine, config }: ServerRun): string =>
  `${config.nodeName}-${machine.random.text(memberSuffixLength, hexadecimal)}`;

/** Writes the manifests of the static Pods. */
export function writePods({ machine, config, version }: ServerRun, etcdName: string): void {
  const tls = tlsDirectory(config);
  const kubernetes = parseVersion(version);
  if (!kubernetes) throw new Rke2Refusal(`${version} is no release of rke2`);
  const cluster = {
    ...readCluster(undefined),
    clusterName: 'kubernetes',
    serviceSubnet: config.serviceCidr,
    podSubnet: config.clusterCidr,
    dnsDomain: config.clusterDomain,
    isExternalEtcd: config.datastore !== undefined,
    imageRepository: 'index.docker.io/rancher',
    certificatesDir: tls,
    apiServerArgs: [
      ['tls-cert-file', `${tls}/serving-kube-apiserver.crt`],
      ['tls-private-key-file', `${tls}/serving-kube-apiserver.key`],
      ['client-ca-file', `${tls}/client-ca.crt`],
      ['service-account-signing-key-file', `${tls}/service.key`],
      ...config.apiServerArgs,
    ] as const,
    controllerManagerArgs: [
      ['cluster-signing-cert-file', `${tls}/client-ca.crt`],
      ['cluster-signing-key-file', `${tls}/client-ca.key`],
      ['root-ca-file', `${tls}/server-ca.crt`],
      ...config.controllerManagerArgs,
    ] as const,
    schedulerArgs: config.schedulerArgs,
    etcdArgs: [
      ['name', etcdName],
      ['cert-file', `${tls}/etcd/server-client.crt`],
      ['key-file', `${tls}/etcd/server-client.key`],
      ['trusted-ca-file', `${tls}/etcd/server-ca.crt`],
      ['data-dir', `${config.dataDirectory}/server/db/etcd`],
      ...config.etcdArgs,
    ] as const,
  };
  writeManifests(machine.disk, {
    nodeName: config.nodeName,
    advertiseAddress: ownAddress(machine),
    bindPort: apiPort,
    cluster,
    version: kubernetes,
    without: config.hasScheduler ? [] : ['kube-scheduler'],
  });
}

/** Writes the kubeconfig for people on the machine. */
export async function writeAdminKubeconfig({ machine, config }: ServerRun): Promise<void> {
  const admin = await issueClient(machine, config, { commonName: 'system:admin', organization: 'system:masters' });
  const facts = {
    server: `https://127.0.0.1:${apiPort}`,
    certificateAuthority: authority(machine.disk, config, 'server-ca').certificate,
    user: 'default',
    clientCertificate: { certificate: admin.certificate, key: admin.privateKey },
  };
  machine.disk.write(adminKubeconfig, renderKubeconfig(facts, 'default'), 0o600);
}
