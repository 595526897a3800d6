import { Secrets } from '../../../../api/index.ts';
import { type Client, formatKey } from '../../../../client/index.ts';
import type { BackupWish } from '../../../../hosting/index.ts';
import { type Clock, ignoreNotFound } from '../../../../machinery/index.ts';
import { secretText } from '../../../shared/index.ts';
import type { BackupStore } from '../types.ts';
import { directoryStore } from './directory-store.ts';
import { BackupStoreError, s3Store } from './s3-store.ts';

/** The store a wish names. */
export async function openBackupStore(
  target: BackupWish['target'],
  client: Client,
  clock: Clock,
  signal: AbortSignal,
): Promise<BackupStore> {
  if (target.type === 'directory') return directoryStore(target.path);
  const key = { namespace: target.secretNamespace, name: target.secretName };
  const secret = await client.get(Secrets, key, { signal }).catch(ignoreNotFound);
  if (!secret) {
    throw new BackupStoreError(`Secret ${formatKey(key)} with the access to the backup store does not exist`, {
      hint: 'create it, or correct its name in the backup settings',
    });
  }
  const value = (name: string): string => {
    const text = secretText(secret, name)?.trim();
    if (text !== undefined) return text;
    throw new BackupStoreError(`Secret ${formatKey(key)} has no key ${name}`, { hint: 'the backup store needs it' });
  };
  const { keys } = target;
  return s3Store(
    {
      accessKeyId: value(keys.accessKeyId),
      secretAccessKey: value(keys.secretAccessKey),
      host: value(keys.host),
      region: value(keys.region),
      bucket: value(keys.bucket),
    },
    clock,
  );
}
