import { addressInCidr, cidrFamily, must } from '../../../machinery/index.ts';
import type { CertificateAndKey } from '../../../pki/index.ts';
import { createAuthority, createServiceAccountKeyPair, issueCertificate, publicKeyOf } from '../../../pki/index.ts';
import type { SimulatedProcess } from '../../process.ts';
import { ProgramFailure } from '../failure.ts';
import { requiredFile } from '../running.ts';
import type { K0sConfig } from './config.ts';

export const pkiDirectory = '/var/lib/k0s/pki';

/** Keys and certificates of one controller. */
export interface K0sPki {
  readonly authority: CertificateAndKey;
  /** PEM of all accepted client CAs */
  readonly clientAuthorities: string;
  readonly serviceAccountKey: string;
  readonly olderServiceAccountKeys: readonly string[];
  readonly serving: CertificateAndKey;
}

/** Loads existing keys and certificates and creates missing ones, as k0s does at every start. */
export async function ensureK0sPki(process: SimulatedProcess, config: K0sConfig): Promise<K0sPki> {
  const { files, clock } = process;
  const at = (name: string): string => `${pkiDirectory}/${name}`;
  const authority = await ensurePair(process, 'ca', () => createAuthority({ commonName: 'kubernetes-ca', clock }));
  await ensurePair(process, 'front-proxy-ca', () =>
    createAuthority({ commonName: 'kubernetes-front-proxy-ca', clock }),
  );
  let serviceAccountKey = files.read(at('sa.key'));
  if (serviceAccountKey === undefined) {
    const pair = await createServiceAccountKeyPair();
    serviceAccountKey = pair.privateKey;
    files.write(at('sa.key'), pair.privateKey, 0o640);
    files.write(at('sa.pub'), pair.publicKey, 0o640);
  }
  const own = await issueCertificate({
    authority,
    commonName: 'kubernetes',
    organizations: ['kubernetes'],
    hosts: servingHosts(process, config),
    usages: ['server', 'client'],
    clock,
  });
  files.write(at('server.crt'), own.certificate, 0o640);
  files.write(at('server.key'), own.privateKey, 0o640);
  return {
    authority,
    clientAuthorities: clientAuthorities(process, config) ?? authority.certificate,
    serviceAccountKey,
    olderServiceAccountKeys: olderKeys(process, config, serviceAccountKey),
    serving: givenServing(process, config) ?? own,
  };
}

async function ensurePair(
  { files }: SimulatedProcess,
  stem: string,
  make: () => Promise<CertificateAndKey>,
): Promise<CertificateAndKey> {
  const certificate = files.read(`${pkiDirectory}/${stem}.crt`);
  const privateKey = files.read(`${pkiDirectory}/${stem}.key`);
  if (certificate !== undefined && privateKey !== undefined) return { certificate, privateKey };
  if (certificate !== undefined) {
    throw new ProgramFailure(
      `Error: failed to init cluster certificates: open ${pkiDirectory}/${stem}.key: no such file or directory`,
    );
  }
  const made = await make();
  files.write(`${pkiDirectory}/${stem}.crt`, made.certificate, 0o644);
  files.write(`${pkiDirectory}/${stem}.key`, made.privateKey, 0o640);
  return made;
}

/** Serving certificate from the API server's extra arguments; it replaces the one of k0s. */
function givenServing(process: SimulatedProcess, { api }: K0sConfig): CertificateAndKey | undefined {
  const certificate = api.extraArgs['tls-cert-file'];
  const privateKey = api.extraArgs['tls-private-key-file'];
  if (certificate === undefined || privateKey === undefined) return undefined;
  return {
    certificate: requiredFile(process, certificate, unreadable),
    privateKey: requiredFile(process, privateKey, unreadable),
  };
}

function clientAuthorities(process: SimulatedProcess, { api }: K0sConfig): string | undefined {
  const path = api.extraArgs['client-ca-file'];
  return path === undefined ? undefined : requiredFile(process, path, unreadable);
}

/** Verification keys for tokens signed before a key rotation, if they are configured. */
function olderKeys(process: SimulatedProcess, { api }: K0sConfig, current: string): string[] {
  const path = api.extraArgs['service-account-key-file'];
  if (path === undefined) return [];
  const text = requiredFile(process, path, unreadable);
  const parts = text.match(/-----BEGIN [^-]+-----[\s\S]+?-----END [^-]+-----/g) ?? [];
  const own = publicKeyOf(current);
  return parts.map((part) => publicKeyOf(`${part}\n`)).filter((key) => key !== own);
}

const unreadable = (reason: string): ProgramFailure => new ProgramFailure(`Error: kube-apiserver: ${reason}`);

function servingHosts({ address, hostname }: SimulatedProcess, { api, network }: K0sConfig): string[] {
  const external = api.externalAddress && hostOf(api.externalAddress);
  const { clusterDomain, serviceCidr } = network;
  const serviceAddress = cidrFamily(serviceCidr) === 'IPv4' ? addressInCidr(serviceCidr, 1) : undefined;
  const hosts = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster',
    `kubernetes.svc.${clusterDomain}`,
    `kubernetes.default.svc.${clusterDomain}`,
    'localhost',
    '127.0.0.1',
    ...(serviceAddress === undefined ? [] : [serviceAddress]),
    ...(address === '' ? [] : [address]),
    hostname,
    ...(external ? [external] : []),
    ...api.sans,
  ];
  return [...new Set(hosts.filter((host) => host !== ''))];
}

/** Removes the port from a host. */
export function hostOf(address: string): string {
  const bracketed = /^\[([^\]]+)\]/.exec(address);
  if (bracketed) return bracketed[1] ?? '';
  const parts = address.split(':');
  return parts.length === 2 ? must(parts[0], 'the first of parts') : address;
}
