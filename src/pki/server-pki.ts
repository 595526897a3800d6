import { isIP } from 'node:net';
import { join } from 'node:path';
import { CapstanError, type Clock } from '../machinery/index.ts';
import { type CertificateAndKey, createAuthority, issueCertificate } from './authority.ts';
import { type CertificateInfo, isMatchingPair, parseCertificate } from './certificate.ts';
import { privateFileMode, readIfPresent, writeFileAtomic } from './files.ts';
import { createServiceAccountKeyPair, type KeyPair, publicKeyOf } from './keys.ts';

export interface ServerPkiOptions {
  directory: string;
  /** DNS names and IP addresses of the server */
  hosts: readonly string[];
  clock: Clock;
}

/** Keys and certificates of an API server. */
export interface ServerPki {
  /** signs the server's and the clients' certificates */
  authority: CertificateAndKey;
  server: CertificateAndKey;
  /** CN=kubernetes-admin, O=system:masters */
  admin: CertificateAndKey;
  serviceAccountKeys: KeyPair;
  /** path for the keys that encrypt Secrets at rest; created by the sealer, not here */
  encryptionKeyFile: string;
  /** files written by this call; empty if everything was present and valid */
  written: string[];
}

const renewBeforeMs = 30 * 24 * 60 * 60 * 1000;

function covers(info: CertificateInfo, hosts: readonly string[]): boolean {
  const names = new Set(info.dnsNames.map((name) => name.toLowerCase()));
  const addresses = new Set(info.ipAddresses);
  return hosts.every((host) => (isIP(host) === 0 ? names.has(host.toLowerCase()) : addresses.has(canonicalIp(host))));
}

function canonicalIp(address: string): string {
  return isIP(address) === 6 ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}

/**
 * Loads the server's keys and certificates from `directory`. Creates missing ones, and renews those that expire within
 * 30 days or lack a host. If everything is in place, it only reads files. Never replaces the authority or the service
 * account key, because that would lock out every client. Damage to them is an error (CAP_PKI_DAMAGED).
 */
export async function ensureServerPki(options: ServerPkiOptions): Promise<ServerPki> {
  const { directory, clock } = options;
  const written: string[] = [];
  const path = (name: string): string => join(directory, name);
  const save = async (name: string, content: string, mode: number): Promise<void> => {
    await writeFileAtomic(path(name), content, mode);
    written.push(path(name));
  };
  const load = async (name: string): Promise<Partial<CertificateAndKey>> => {
    const [certificate, privateKey] = await Promise.all([
      readIfPresent(path(`${name}.crt`)),
      readIfPresent(path(`${name}.key`)),
    ]);
    return { ...(certificate !== undefined && { certificate }), ...(privateKey !== undefined && { privateKey }) };
  };
  const store = async (name: string, pair: CertificateAndKey): Promise<CertificateAndKey> => {
    // The key is written first. After a crash in between, the next start creates the certificate for it.
    await save(`${name}.key`, pair.privateKey, privateFileMode);
    await save(`${name}.crt`, pair.certificate, 0o644);
    return pair;
  };
  /** pending writes, while further certificates are issued */
  const storing: Promise<unknown>[] = [];
  const storeLater = (name: string, pair: CertificateAndKey): CertificateAndKey => {
    const stored = store(name, pair);
    // Awaited at the end. Until then, a failure must not count as an unhandled rejection.
    stored.catch(() => undefined);
    storing.push(stored);
    return pair;
  };

  const ensureAuthority = async (): Promise<CertificateAndKey> => {
    const { certificate, privateKey } = await load('ca');
    if (certificate === undefined) {
      return storeLater(
        'ca',
        await createAuthority({ commonName: 'kubernetes', clock, ...(privateKey && { privateKey }) }),
      );
    }
    if (privateKey === undefined || !isMatchingPair(certificate, privateKey)) {
      throw new CapstanError(
        'CAP_PKI_DAMAGED',
        `the certificate authority in ${directory} is damaged: ca.key does not belong to ca.crt`,
        { hint: `restore both files from a backup, or remove ${directory} to start over with new credentials` },
      );
    }
    return { certificate, privateKey };
  };

  const ensureLeaf = async (
    name: string,
    authority: CertificateAndKey,
    found: Partial<CertificateAndKey>,
    wanted: { commonName: string; organizations: string[]; hosts: readonly string[]; usage: 'server' | 'client' },
  ): Promise<CertificateAndKey> => {
    const { certificate, privateKey } = found;
    if (
      certificate !== undefined &&
      privateKey !== undefined &&
      isMatchingPair(certificate, privateKey, authority.certificate)
    ) {
      const info = parseCertificate(certificate);
      if (info.notAfter - clock.now() >= renewBeforeMs && covers(info, wanted.hosts))
        return { certificate, privateKey };
    }
    const { usage, ...subject } = wanted;
    return storeLater(name, await issueCertificate({ authority, ...subject, usages: [usage], clock }));
  };

  const ensureServiceAccountKeys = async (): Promise<KeyPair> => {
    const privateKey = await readIfPresent(path('sa.key'));
    if (privateKey === undefined) {
      const pair = await createServiceAccountKeyPair();
      await save('sa.key', pair.privateKey, privateFileMode);
      await save('sa.pub', pair.publicKey, 0o644);
      return pair;
    }
    try {
      return { privateKey, publicKey: publicKeyOf(privateKey) };
    } catch (cause) {
      throw new CapstanError('CAP_PKI_DAMAGED', `${path('sa.key')} holds no private key`, {
        hint: 'restore it from a backup; removing it makes a new one and ends all service account tokens',
        cause,
      });
    }
  };

  const serviceAccountKeys = ensureServiceAccountKeys();
  const existing = Promise.all([load('apiserver'), load('admin')]);
  const leaves = (async () => {
    const [authority, [server, admin]] = await Promise.all([ensureAuthority(), existing]);
    const [serverPair, adminPair] = await Promise.all([
      ensureLeaf('apiserver', authority, server, {
        commonName: 'kube-apiserver',
        organizations: [],
        hosts: options.hosts,
        usage: 'server',
      }),
      ensureLeaf('admin', authority, admin, {
        commonName: 'kubernetes-admin',
        organizations: ['system:masters'],
        hosts: [],
        usage: 'client',
      }),
    ]);
    return { authority, server: serverPair, admin: adminPair };
  })();
  try {
    const [keys, pairs] = await Promise.all([serviceAccountKeys, leaves]);
    await Promise.all(storing);
    return { ...pairs, serviceAccountKeys: keys, encryptionKeyFile: path('encryption.keys'), written };
  } finally {
    // after a failure, too, nothing reads or writes the directory once this has ended
    await Promise.allSettled([serviceAccountKeys, existing, leaves]);
    await Promise.allSettled(storing);
  }
}
