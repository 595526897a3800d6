import { join } from 'node:path';
import type { Clock } from '../machinery/index.ts';
import {
  type CertificateAndKey,
  createAuthority,
  isMatchingPair,
  issueCertificate,
  parseCertificate,
  privateFileMode,
  readIfPresent,
  writeFileAtomic,
} from '../pki/index.ts';

export interface CloudTls extends CertificateAndKey {
  /** file of the CA certificate, for clients */
  readonly authorityFile: string;
}

const renewBeforeMs = 30 * 24 * 60 * 60 * 1000;

/** Loads or creates the CA in the cloud's directory, and issues a certificate for its address. */
export async function ensureCloudTls(directory: string, hosts: readonly string[], clock: Clock): Promise<CloudTls> {
  const authorityFile = join(directory, 'ca.crt');
  const keyFile = join(directory, 'ca.key');
  const authority =
    (await loadAuthority(authorityFile, keyFile, clock)) ?? (await newAuthority(authorityFile, keyFile, clock));
  // Issued at every start: it takes only milliseconds, and the address may have changed.
  const served = await issueCertificate({ authority, commonName: 'simulated cloud', hosts, usages: ['server'], clock });
  return { ...served, authorityFile };
}

async function loadAuthority(file: string, keyFile: string, clock: Clock): Promise<CertificateAndKey | undefined> {
  const [certificate, privateKey] = await Promise.all([readIfPresent(file), readIfPresent(keyFile)]);
  if (certificate === undefined || privateKey === undefined || !isMatchingPair(certificate, privateKey))
    return undefined;
  return parseCertificate(certificate).notAfter - clock.now() > renewBeforeMs ? { certificate, privateKey } : undefined;
}

async function newAuthority(file: string, keyFile: string, clock: Clock): Promise<CertificateAndKey> {
  const authority = await createAuthority({ commonName: 'simulated cloud authority', clock });
  await writeFileAtomic(keyFile, authority.privateKey, privateFileMode);
  await writeFileAtomic(file, authority.certificate, 0o644);
  return authority;
}
