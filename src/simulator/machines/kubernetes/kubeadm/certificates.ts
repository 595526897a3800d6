import { isIP } from 'node:net';
import { addressInCidr, type Clock, cidrFamily, must } from '../../../../machinery/index.ts';
import {
  type CertificateAndKey,
  createAuthority,
  createServiceAccountKeyPair,
  isMatchingPair,
  issueCertificate,
  parseCertificate,
  publicKeyOf,
} from '../../../../pki/index.ts';
import type { Disk } from '../../types.ts';
import type { ClusterConfiguration } from './documents.ts';
import { KubeadmFailure } from './failure.ts';

/** Writes a progress line to the console. */
export type Say = (line: string) => void;

/** Contents of the certificates directory on a control-plane machine after kubeadm has run. */
export interface ControlPlanePki {
  readonly authority: CertificateAndKey;
  /** authority of client certificates, if it differs */
  readonly clientAuthority?: CertificateAndKey;
  readonly etcdAuthority: CertificateAndKey | undefined;
  readonly serviceAccountKey: string;
  readonly apiServer: CertificateAndKey;
  readonly etcdServer: CertificateAndKey | undefined;
}

export interface PkiContext {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly say: Say;
  readonly nodeName: string;
  readonly advertiseAddress: string;
  readonly cluster: ClusterConfiguration;
}

interface Authority {
  readonly file: string;
  readonly commonName: string;
  readonly phase: string;
}

const authorities = {
  cluster: { file: 'ca', commonName: 'kubernetes', phase: 'certs/ca' },
  frontProxy: { file: 'front-proxy-ca', commonName: 'front-proxy-ca', phase: 'certs/front-proxy-ca' },
  etcd: { file: 'etcd/ca', commonName: 'etcd-ca', phase: 'certs/etcd-ca' },
} as const satisfies Record<string, Authority>;

const yearMs = 365 * 24 * 3_600_000;
const secret = 0o600;

/** Lists the missing authorities and keys that a joining control plane needs. */
export function missingSharedCertificates(disk: Disk, cluster: ClusterConfiguration): string[] {
  const wanted: [what: string, file: string][] = [
    ['certificate for CA', 'ca.crt'],
    ['key for service account', 'sa.key'],
    ['certificate for front-proxy CA', 'front-proxy-ca.crt'],
    ...(cluster.isExternalEtcd ? [] : [['certificate for etcd CA', 'etcd/ca.crt'] as [string, string]]),
  ];
  return wanted.flatMap(([what, file]) => {
    const path = `${cluster.certificatesDir}/${file}`;
    return disk.read(path) === undefined
      ? [`failure loading ${what}: couldn't load the certificate file ${path}: open ${path}: no such file or directory`]
      : [];
  });
}

/** Uses the authorities on the disk, creates missing ones, and issues the serving certificates of this machine. */
export async function ensureControlPlanePki(context: PkiContext): Promise<ControlPlanePki> {
  const { cluster, say } = context;
  say(`[certs] Using certificateDir folder "${cluster.certificatesDir}"`);
  const authority = await ensureAuthority(context, authorities.cluster);
  const apiServer = await ensureServing(context, 'apiserver', {
    authority,
    commonName: 'kube-apiserver',
    hosts: apiServerHosts(context),
  });
  await ensureAuthority(context, authorities.frontProxy);
  let etcdAuthority: CertificateAndKey | undefined;
  let etcdServer: CertificateAndKey | undefined;
  if (!cluster.isExternalEtcd) {
    etcdAuthority = await ensureAuthority(context, authorities.etcd);
    const { nodeName, advertiseAddress } = context;
    const hosts = unique([nodeName, 'localhost', advertiseAddress, '127.0.0.1', '::1', ...cluster.etcdCertSans]);
    etcdServer = await ensureServing(context, 'etcd/server', { authority: etcdAuthority, commonName: nodeName, hosts });
  }
  return { authority, etcdAuthority, serviceAccountKey: await ensureServiceAccountKey(context), apiServer, etcdServer };
}

/** Reads the certificates after a reboot. Returns undefined if they are damaged or incomplete. */
export function readControlPlanePki(disk: Disk, directory: string): ControlPlanePki | undefined {
  const read = pairReader(disk, directory);
  const authority = read('ca');
  const apiServer = read('apiserver');
  const serviceAccountKey = disk.read(`${directory}/sa.key`);
  if (!authority || !apiServer || serviceAccountKey === undefined) return undefined;
  return { authority, apiServer, serviceAccountKey, etcdAuthority: read('etcd/ca'), etcdServer: read('etcd/server') };
}

/** Does the same for an rke2 server, where the authorities have other file names. */
export function readRke2Pki(disk: Disk, directory: string): ControlPlanePki | undefined {
  const read = pairReader(disk, directory);
  const authority = read('server-ca');
  const clientAuthority = read('client-ca');
  const apiServer = read('serving-kube-apiserver');
  const serviceAccountKey = disk.read(`${directory}/service.key`);
  if (!authority || !clientAuthority || !apiServer || serviceAccountKey === undefined) return undefined;
  const etcd = { etcdAuthority: read('etcd/server-ca'), etcdServer: read('etcd/server-client') };
  return { authority, clientAuthority, apiServer, serviceAccountKey, ...etcd };
}

function pairReader(disk: Disk, directory: string): (name: string) => CertificateAndKey | undefined {
  return (name) => {
    const certificate = disk.read(`${directory}/${name}.crt`);
    const privateKey = disk.read(`${directory}/${name}.key`);
    return certificate === undefined || privateKey === undefined ? undefined : { certificate, privateKey };
  };
}

async function ensureAuthority(
  context: PkiContext,
  { file, commonName, phase }: Authority,
): Promise<CertificateAndKey> {
  const { disk, clock, say, cluster } = context;
  const path = `${cluster.certificatesDir}/${file}`;
  const certificate = disk.read(`${path}.crt`);
  const privateKey = disk.read(`${path}.key`);
  const shown = file.replace('/', '-');
  if (certificate === undefined) {
    say(`[certs] Generating "${file}" certificate and key`);
    const made = await createAuthority({ commonName, clock, validityMs: 10 * yearMs });
    disk.write(`${path}.key`, made.privateKey, secret);
    disk.write(`${path}.crt`, made.certificate, 0o644);
    return made;
  }
  const problem = authorityProblem(certificate, privateKey, path);
  if (problem !== undefined) throw new KubeadmFailure(phase, `failure loading ${shown} certificate: ${problem}`);
  say(`[certs] Using existing ${shown} certificate authority`);
  return { certificate, privateKey: must(privateKey, 'privateKey') };
}

function authorityProblem(certificate: string, privateKey: string | undefined, path: string): string | undefined {
  if (privateKey === undefined) {
    return `couldn't load the private key file ${path}.key: open ${path}.key: no such file or directory`;
  }
  try {
    if (!parseCertificate(certificate).isAuthority) return `certificate ${path}.crt is not a CA`;
  } catch {
    return `couldn't load the certificate file ${path}.crt: error reading ${path}.crt: data does not contain any valid RSA or ECDSA certificates`;
  }
  return isMatchingPair(certificate, privateKey)
    ? undefined
    : `the certificate ${path}.crt and the private key ${path}.key do not belong together`;
}

async function ensureServing(
  context: PkiContext,
  file: string,
  { authority, commonName, hosts }: { authority: CertificateAndKey; commonName: string; hosts: readonly string[] },
): Promise<CertificateAndKey> {
  const { disk, clock, say, cluster } = context;
  const path = `${cluster.certificatesDir}/${file}`;
  const certificate = disk.read(`${path}.crt`);
  const privateKey = disk.read(`${path}.key`);
  if (certificate !== undefined && privateKey !== undefined) {
    if (!isMatchingPair(certificate, privateKey, authority.certificate)) {
      throw new KubeadmFailure(
        `certs/${file.replace('/', '-')}`,
        `[certs] certificate ${file} not signed by CA certificate`,
      );
    }
    say(`[certs] Using existing ${file} certificate and key on disk`);
    return { certificate, privateKey };
  }
  say(`[certs] Generating "${file}" certificate and key`);
  const names = hosts.filter((host) => isIP(host) === 0);
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  say(`[certs] ${file} serving cert is signed for DNS names [${names.join(' ')}] and IPs [${addresses.join(' ')}]`);
  const made = await issueCertificate({ authority, commonName, hosts, usages: ['server', 'client'], clock });
  disk.write(`${path}.key`, made.privateKey, secret);
  disk.write(`${path}.crt`, made.certificate, 0o644);
  return made;
}

async function ensureServiceAccountKey({ disk, say, cluster }: PkiContext): Promise<string> {
  const path = `${cluster.certificatesDir}/sa`;
  const found = disk.read(`${path}.key`);
  if (found !== undefined) {
    try {
      publicKeyOf(found);
    } catch {
      throw new KubeadmFailure(
        'certs/sa',
        `failure loading sa key: couldn't load the private key file ${path}.key: data does not contain a valid RSA or ECDSA private key`,
      );
    }
    say('[certs] Using the existing "sa" key');
    return found;
  }
  say('[certs] Generating "sa" key and public key');
  const keys = await createServiceAccountKeyPair();
  disk.write(`${path}.key`, keys.privateKey, secret);
  disk.write(`${path}.pub`, keys.publicKey, secret);
  return keys.privateKey;
}

/** Returns the names and addresses in the API server's certificate. */
function apiServerHosts({ cluster, nodeName, advertiseAddress }: PkiContext): string[] {
  const { dnsDomain, controlPlaneEndpoint, certSans, serviceSubnet } = cluster;
  const serviceAddress = firstServiceAddress(serviceSubnet);
  return unique([
    nodeName,
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${dnsDomain}`,
    ...(serviceAddress === undefined ? [] : [serviceAddress]),
    advertiseAddress,
    ...(controlPlaneEndpoint === undefined ? [] : [hostOf(controlPlaneEndpoint)]),
    ...certSans,
  ]);
}

/** Returns the address of the Service `kubernetes`, or undefined for IPv6 ranges. */
function firstServiceAddress(subnet: string): string | undefined {
  const [range = ''] = subnet.split(',');
  return cidrFamily(range) === 'IPv4' ? addressInCidr(range, 1) : undefined;
}

/** Removes the port from "host:port" or "[v6]:port". Accepts a bare host too. */
export function hostOf(endpoint: string): string {
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::\d+)?$/.exec(endpoint);
  return match?.[1] ?? match?.[2] ?? endpoint;
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
