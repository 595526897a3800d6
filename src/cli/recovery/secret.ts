import { readFile } from 'node:fs/promises';
import { CapstanError, errorMessage } from '../../machinery/index.ts';
import type { ArchiveSecret } from '../../store/index.ts';

export interface SecretFlags {
  passphraseFile?: string;
  keyFile?: string;
}

export const passphraseVariable = 'CAPSTAN_BACKUP_PASSPHRASE';
const shortestPassphrase = 8;

/** Returns the secret of an archive from the flags or the environment; undefined if neither is set. */
export async function archiveSecret(
  flags: SecretFlags,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ArchiveSecret | undefined> {
  if (flags.keyFile !== undefined && flags.passphraseFile !== undefined) {
    throw new CapstanError('CAP_USAGE', 'an archive has a passphrase or a key file, not both');
  }
  if (flags.keyFile !== undefined) return { kind: 'key', key: await read('--key-file', flags.keyFile) };
  const passphrase =
    flags.passphraseFile === undefined
      ? env[passphraseVariable]
      : (await read('--passphrase-file', flags.passphraseFile)).toString('utf8').replace(/\r?\n$/, '');
  if (passphrase === undefined) return undefined;
  if (passphrase.length < shortestPassphrase) {
    throw new CapstanError(
      'CAP_USAGE',
      `the passphrase is too short: it needs ${shortestPassphrase} characters or more`,
    );
  }
  return { kind: 'passphrase', passphrase };
}

async function read(flag: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new CapstanError('CAP_USAGE', `${flag}: ${path} cannot be read: ${errorMessage(cause)}`, { cause });
  }
}
