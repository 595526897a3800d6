import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CapstanError, errorMessage } from '../../machinery/index.ts';
import { isArchive, restoreBackup } from '../../store/index.ts';
import type { CommandContext } from '../context.ts';
import { defaultDataDirectory, defaultEncryptionKeyFile, storeDirectory } from '../management-api.ts';
import { restoreArchive } from '../recovery/restore.ts';
import { archiveSecret, type SecretFlags } from '../recovery/secret.ts';

interface RestoreCommandOptions extends SecretFlags {
  dataDir?: string;
  encryptionKeyFile?: string;
  force?: boolean;
}

export async function restore(options: RestoreCommandOptions, context: CommandContext, file: string): Promise<number> {
  const { env, stdout, stderr } = context;
  const dataDirectory = resolve(options.dataDir ?? defaultDataDirectory(env));
  const archive = resolve(file);
  await access(archive).catch((error: unknown) => {
    throw new CapstanError('CAP_USAGE', `${archive} cannot be read: ${errorMessage(error)}`);
  });
  if (!(await isArchive(archive))) {
    const directory = storeDirectory(dataDirectory);
    const { records, revision } = await restoreBackup({
      backupPath: archive,
      directory,
      force: options.force ?? false,
    });
    stdout(`restored ${records} records at revision ${revision} into ${directory}\n`);
    return 0;
  }
  const secret = await archiveSecret(options, env);
  if (!secret) {
    throw new CapstanError('CAP_USAGE', `${archive} is encrypted`, {
      hint: 'use --passphrase-file FILE or --key-file FILE',
    });
  }
  const encryptionKeyFile = resolve(options.encryptionKeyFile ?? defaultEncryptionKeyFile(env, dataDirectory));
  const { manifest, records, revision } = await restoreArchive({
    archive,
    dataDirectory,
    encryptionKeyFile,
    secret,
    force: options.force ?? false,
  });
  stdout(`restored ${records} records at revision ${revision} into ${dataDirectory}\n`);
  stdout(
    `saved ${manifest.createdAt} by capstan ${manifest.version}; key that encrypts Secrets: ${encryptionKeyFile}\n`,
  );
  for (const missing of manifest.missing) stderr(`not in the archive: ${missing}\n`);
  if (manifest.server !== '') {
    const { hostname, port } = new URL(manifest.server);
    stderr(
      `kubeconfigs that were handed out say ${manifest.server}: they work on as soon as this API answers there (--listen :${port}, --tls-san ${hostname}), or with the new address in them\n`,
    );
  }
  return 0;
}
