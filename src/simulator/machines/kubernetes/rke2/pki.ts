import { addressInCidr, type Clock, cidrFamily } from '../../../../machinery/index.ts';
import {
  type CertificateAndKey,
  createAuthority,
  createServiceAccountKeyPair,
  isMatchingPair,
  issueCertificate,
} from '../../../../pki/index.ts';
import type { Disk, RunningMachine } from '../../types.ts';
import type { Rke2Config } from './config.ts';
import { Rke2Refusal } from './refusal.ts';

/** Files shared by all servers of a cluster. A joining server copies them from an existing one. */
const authorities = {
  'server-ca': 'rke2-server-ca',
  'client-ca': 'rke2-client-ca',
  'request-header-ca': 'rke2-request-header-ca',
  'etcd/server-ca': 'etcd-server-ca',
  'etcd/peer-ca': 'etcd-peer-ca',
} as const;
type AuthorityName = keyof typeof authorities;
const serviceKey = 'service.key';

export const tlsDirectory = ({ dataDirectory }: Pick<Rke2Config, 'dataDirectory'>): string =>
  `${dataDirectory}/server/tls`;

function readPair(disk: Disk, path: string): CertificateAndKey | undefined {
  const certificate = disk.read(`${path}.crt`);
  const privateKey = disk.read(`${path}.key`);
  return certificate === undefined || privateKey === undefined ? undefined : { certificate, privateKey };
}

/** Uses given authorities and creates the missing ones. */
export async function ensureAuthorities(machine: RunningMachine, config: Rke2Config): Promise<void> {
  const { disk, clock } = machine;
  const directory = tlsDirectory(config);
  for (const [name, commonName] of Object.entries(authorities)) {
    const path = `${directory}/${name}`;
    const found = readPair(disk, path);
    if (found) {
      if (isMatchingPair(found.certificate, found.privateKey)) continue;
      throw new Rke2Refusal(
        `preparing server: ${path}.crt and ${path}.key are not a pair: tls: private key does not match public key`,
      );
    }
    const made = await createAuthority({ commonName: `${commonName}@${Math.floor(clock.now() / 1000)}`, clock });
    disk.write(`${path}.crt`, made.certificate, 0o644);
    disk.write(`${path}.key`, made.privateKey, 0o600);
  }
  if (disk.read(`${directory}/${serviceKey}`) === undefined) {
    disk.write(`${directory}/${serviceKey}`, (await createServiceAccountKeyPair()).privateKey, 0o600);
  }
}

/** Returns the files that joining servers copy. */
export function sharedFiles(disk: Disk, config: Rke2Config): Map<string, string> {
  const names = [...Object.keys(authorities).flatMap((name) => [`${name}.crt`, `${name}.key`]), serviceKey];
  const files = new Map<string, string>();
  for (const name of names) {
    const content = disk.read(`${tlsDirectory(config)}/${name}`);
    if (content !== undefined) files.set(name, content);
  }
  return files;
}

export function writeSharedFiles(disk: Disk, config: Rke2Config, files: ReadonlyMap<string, string>): void {
  for (const [name, content] of files) disk.write(`${tlsDirectory(config)}/${name}`, content, 0o600);
}

export function authority(disk: Disk, config: Rke2Config, name: AuthorityName): CertificateAndKey {
  const found = readPair(disk, `${tlsDirectory(config)}/${name}`);
  if (!found)
    throw new Rke2Refusal(`preparing server: open ${tlsDirectory(config)}/${name}.crt: no such file or directory`);
  return found;
}

/** Issues the serving certificates of the API and of etcd. */
export async function issueServing(machine: RunningMachine, config: Rke2Config): Promise<void> {
  const { disk, clock, addresses } = machine;
  const directory = tlsDirectory(config);
  const serviceAddress =
    cidrFamily(config.serviceCidr.split(',')[0] ?? '') === 'IPv4'
      ? addressInCidr(config.serviceCidr.split(',')[0] ?? '', 1)
      : undefined;
  const local = ['localhost', '127.0.0.1', '::1', config.nodeName, ...addresses];
  const kubernetes = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const api = [
    ...local,
    ...kubernetes,
    `kubernetes.default.svc.${config.clusterDomain}`,
    ...(serviceAddress === undefined ? [] : [serviceAddress]),
    ...config.subjectNames,
  ];
  await serve(disk, clock, `${directory}/serving-kube-apiserver`, {
    authority: authority(disk, config, 'server-ca'),
    commonName: 'kube-apiserver',
    hosts: [...new Set(api)],
  });
  await serve(disk, clock, `${directory}/etcd/server-client`, {
    authority: authority(disk, config, 'etcd/server-ca'),
    commonName: 'etcd-server',
    hosts: [...new Set(local)],
  });
}

async function serve(
  disk: Disk,
  clock: Clock,
  path: string,
  wanted: { authority: CertificateAndKey; commonName: string; hosts: readonly string[] },
): Promise<void> {
  if (readPair(disk, path)) return;
  const made = await issueCertificate({ ...wanted, usages: ['server', 'client'], clock });
  disk.write(`${path}.crt`, made.certificate, 0o644);
  disk.write(`${path}.key`, made.privateKey, 0o600);
}

/** Issues a client certificate for the API. */
export function issueClient(
  machine: RunningMachine,
  config: Rke2Config,
  client: { commonName: string; organization: string },
): Promise<CertificateAndKey> {
  return issueCertificate({
    authority: authority(machine.disk, config, 'client-ca'),
    commonName: client.commonName,
    organizations: [client.organization],
    usages: ['client'],
    clock: machine.clock,
  });
}
