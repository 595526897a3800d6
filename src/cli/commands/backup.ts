import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { backupPath } from '../../apiserver/index.ts';
import { httpClient } from '../../client/index.ts';
import { lmdbEngine } from '../../store/index.ts';
import type { CommandContext } from '../context.ts';
import { storeDirectory } from '../management-api.ts';
import { targetApi } from '../target-api.ts';

interface BackupOptions {
  dataDir?: string;
  kubeconfig?: string;
  context?: string;
}

/** Saves the store: through the running server, or straight from a data directory nobody uses. */
export async function backup(options: BackupOptions, context: CommandContext, file: string): Promise<number> {
  const target = resolve(file);
  if (options.dataDir !== undefined) await backupDirectory(resolve(options.dataDir), target);
  else await backupServer(options, context, target);
  context.stdout(`saved to ${target}\n`);
  return 0;
}

async function backupDirectory(dataDirectory: string, target: string): Promise<void> {
  const engine = await lmdbEngine({ directory: storeDirectory(dataDirectory) });
  try {
    await engine.load(() => {});
    await engine.backup(target);
  } finally {
    await engine.close();
  }
}

async function backupServer(options: BackupOptions, { env, signal }: CommandContext, target: string): Promise<void> {
  const config = await targetApi(options, env, { interactive: true });
  const client = httpClient(config);
  // A half-received file must never carry the name of a good one.
  const temporary = `${target}.${randomUUID()}.tmp`;
  try {
    const { chunks } = await client.download(backupPath, { signal });
    await pipeline(chunks, createWriteStream(temporary, { mode: 0o600 }));
    await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
    await client.close();
  }
}
