import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { backupPath } from '../../apiserver/index.ts';
import { type ConnectionConfig, httpClient } from '../../client/index.ts';
import { CapstanError, formatTime } from '../../machinery/index.ts';
import { lmdbEngine } from '../../store/index.ts';
import { explained } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import { defaultDataDirectory, defaultEncryptionKeyFile, storeDirectory } from '../management-api.ts';
import { createArchive } from '../recovery/create.ts';
import { archiveSecret, type SecretFlags } from '../recovery/secret.ts';
import { targetApi } from '../target-api.ts';
import { version } from '../version.ts';

interface BackupOptions extends SecretFlags {
  dataDir?: string;
  encryptionKeyFile?: string;
  kubeconfig?: string;
  context?: string;
}

/**
 * With a passphrase or key file, writes an archive from which a management API can be restored anywhere. Without,
 * copies only the store, whose Secrets stay sealed.
 */
export async function backup(options: BackupOptions, context: CommandContext, file: string): Promise<number> {
  const target = resolve(file);
  const secret = await archiveSecret(options, context.env);
  if (!secret) {
    if (options.dataDir !== undefined) await backupDirectory(resolve(options.dataDir), target);
    else await backupServer(await targetApi(options, context.env, { interactive: true }), context, target);
    context.stdout(`saved to ${target}\n`);
    context.stderr(
      'not included: the authorities, the key that encrypts Secrets, volumes of Pods; use --passphrase-file or --key-file for a complete archive\n',
    );
    return 0;
  }
  const dataDirectory = resolve(options.dataDir ?? defaultDataDirectory(context.env));
  const encryptionKeyFile = resolve(options.encryptionKeyFile ?? defaultEncryptionKeyFile(context.env, dataDirectory));
  const storeBackup = `${target}.${randomUUID()}.store.tmp`;
  try {
    const server = await backupStore(dataDirectory, options, context, storeBackup);
    const report = await createArchive(target, secret, {
      dataDirectory,
      encryptionKeyFile,
      storeBackup,
      live: server !== '',
      server,
      version,
      createdAt: formatTime(context.clock.now()),
    });
    context.stdout(`saved ${report.records} records and ${report.files} files to ${target}\n`);
    for (const missing of report.missing) context.stderr(`not in it: ${missing}\n`);
    return 0;
  } finally {
    await rm(storeBackup, { force: true });
  }
}

/**
 * Copies the store directly, or through the server that uses the directory. Resolves with the address of that server.
 */
async function backupStore(
  dataDirectory: string,
  options: BackupOptions,
  context: CommandContext,
  target: string,
): Promise<string> {
  try {
    await backupDirectory(dataDirectory, target);
    return '';
  } catch (error) {
    if (!(error instanceof CapstanError) || error.code !== 'CAP_STORE_LOCKED') throw error;
  }
  const config = await targetApi(options, context.env, { interactive: true });
  const authority = await readFile(join(dataDirectory, 'pki', 'ca.crt'), 'utf8');
  if (config.certificateAuthority?.trim() !== authority.trim()) {
    throw new CapstanError('CAP_USAGE', `${config.server} is not the server that uses ${dataDirectory}`, {
      hint: 'name the kubeconfig that `capstan up` wrote with --kubeconfig, or the data directory with --data-dir',
    });
  }
  await backupServer(config, context, target);
  return config.server;
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

async function backupServer(config: ConnectionConfig, { signal }: CommandContext, target: string): Promise<void> {
  const client = httpClient(config);
  // A partial file must never have the final name.
  const temporary = `${target}.${randomUUID()}.tmp`;
  try {
    const { chunks } = await client.download(backupPath, { signal });
    await pipeline(chunks, createWriteStream(temporary, { mode: 0o600 }));
    await rename(temporary, target);
  } catch (error) {
    throw explained(error, config);
  } finally {
    await rm(temporary, { force: true });
    await client.close();
  }
}
