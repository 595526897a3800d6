import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CapstanError } from '../../machinery/index.ts';
import { privateFileMode, writeFileAtomic } from '../../pki/index.ts';
import type { WorldCredentials } from './world.ts';

/** Credentials of a cloud. */
export interface CloudSecrets extends WorldCredentials {
  readonly adminPassword: string;
  /** token of the operator API below `/_admin` */
  readonly adminToken: string;
}

const fileName = 'secrets.json';

export async function saveSecrets(directory: string, secrets: CloudSecrets): Promise<void> {
  await writeFileAtomic(join(directory, fileName), `${JSON.stringify(secrets, undefined, 2)}\n`, privateFileMode);
}

export async function loadSecrets(directory: string): Promise<CloudSecrets> {
  const path = join(directory, fileName);
  try {
    return JSON.parse(await readFile(path, 'utf8')) as CloudSecrets;
  } catch (cause) {
    throw new CapstanError('CAP_CLOUD_STATE_DAMAGED', `${path} cannot be read: nobody could log in to this cloud`, {
      hint: `restore the file from a backup, or remove ${directory} to start with a new cloud`,
      cause,
    });
  }
}
