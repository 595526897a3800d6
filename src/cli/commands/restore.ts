import { resolve } from 'node:path';
import { restoreBackup } from '../../store/index.ts';
import type { CommandContext } from '../context.ts';
import { defaultDataDirectory, storeDirectory } from '../management-api.ts';

export async function restore(
  options: { dataDir?: string; force?: boolean },
  { env, stdout }: CommandContext,
  file: string,
): Promise<number> {
  const directory = storeDirectory(resolve(options.dataDir ?? defaultDataDirectory(env)));
  const { records, revision } = await restoreBackup({
    backupPath: resolve(file),
    directory,
    force: options.force ?? false,
  });
  stdout(`restored ${records} records at revision ${revision} into ${directory}\n`);
  return 0;
}
