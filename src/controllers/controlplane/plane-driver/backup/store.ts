import { type CrossReference, type Secret, Secrets } from '../../../../api/index.ts';
import { type Client, formatKey, type ObjectKey } from '../../../../client/index.ts';
import type { BackupSpec } from '../../../../hosting/index.ts';
import { anyPeer, type Clock, ignoreNotFound, type PeerPolicy } from '../../../../machinery/index.ts';
import { mayRefer, missingGrant, referrer, secretTarget, secretText } from '../../../shared/index.ts';
import type { PlaneScope } from '../scope.ts';
import type { BackupStore } from '../types.ts';
import { directoryStore } from './directory-store.ts';
import { BackupStoreError, type S3Location, s3Store } from './s3-store.ts';

export interface BackupStoreOptions {
  client: Client;
  clock: Clock;
  /** the plane that refers to the store, for grants */
  from: CrossReference['from'];
  /** the operator's backup directory */
  directory: string | undefined;
  /** bucket hosts that may be contacted */
  peers: PeerPolicy;
  signal: AbortSignal;
}

export function storeOptions({ request, dependencies }: PlaneScope, signal: AbortSignal): BackupStoreOptions {
  const { client, clock } = request.context;
  return {
    client,
    clock,
    from: referrer(request.owner),
    directory: dependencies.backupDirectory,
    peers: dependencies.peers ?? anyPeer,
    signal,
  };
}

export interface OpenedStore {
  readonly store: BackupStore;
  /** true if the tenant's own credentials open it, so all its content may be read */
  readonly isOwn: boolean;
}

/** Opens the store in a backup spec. */
export async function openBackupStore(
  target: BackupSpec['target'],
  { client, clock, from, directory, peers, signal }: BackupStoreOptions,
): Promise<OpenedStore> {
  if (target.type === 'directory') {
    if (directory !== undefined) return { store: directoryStore(directory), isOwn: false };
    throw new BackupStoreError('there is no directory for backups here', {
      hint: 'the operator gives one with --backup-directory; or name a Secret with the access to a bucket',
    });
  }
  const key = { namespace: target.secretNamespace, name: target.secretName };
  const reference = { from, to: secretTarget(key.namespace, key.name) };
  if (!(await mayRefer(client, reference, signal))) {
    throw new BackupStoreError(missingGrant(reference), { hint: 'create the grant, or a Secret in the own namespace' });
  }
  const secret = await client.get(Secrets, key, { signal }).catch(ignoreNotFound);
  if (!secret) {
    throw new BackupStoreError(`Secret ${formatKey(key)} with the access to the backup store does not exist`, {
      hint: 'create it, or correct its name in the backup settings',
    });
  }
  const store = s3Store(locationIn(secret, key, target.keys), clock, { peers });
  return { store, isOwn: key.namespace === from.namespace };
}

type Keys = Extract<BackupSpec['target'], { type: 's3' }>['keys'];

function locationIn(secret: Secret, key: ObjectKey, keys: Keys): S3Location {
  const value = (name: string): string => {
    const text = secretText(secret, name)?.trim();
    if (text !== undefined) return text;
    throw new BackupStoreError(`Secret ${formatKey(key)} has no key ${name}`, { hint: 'the backup store needs it' });
  };
  return {
    accessKeyId: value(keys.accessKeyId),
    secretAccessKey: value(keys.secretAccessKey),
    host: value(keys.host),
    region: value(keys.region),
    bucket: value(keys.bucket),
  };
}
