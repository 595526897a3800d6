import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Store } from '../../store/index.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { Exchange } from './exchange.ts';

/** GET returns a backup of the store, taken while serving. Secrets stay sealed as on disk. */
export const backupPath = '/capstan/backup';

export async function handleBackup(exchange: Exchange, store: Store<StoredObject>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-backup-'));
  try {
    const file = join(directory, 'backup');
    await store.backup(file);
    const { size } = await stat(file);
    exchange.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
    await pipeline(createReadStream(file), exchange.output);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
