import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CapstanError } from '../../machinery/index.ts';
import { checkStore } from '../../store/index.ts';
import type { CommandContext } from '../context.ts';
import { defaultDataDirectory, storeDirectory } from '../management-api.ts';

export async function storeCheck(
  options: { dataDir?: string; repair?: boolean },
  { env, stdout }: CommandContext,
): Promise<number> {
  const directory = storeDirectory(resolve(options.dataDir ?? defaultDataDirectory(env)));
  // Opening a store would create it.
  const exists = await access(directory).then(
    () => true,
    () => false,
  );
  if (!exists) {
    throw new CapstanError('CAP_USAGE', `there is no store in ${directory}`, {
      hint: 'name the data directory of `capstan up` with --data-dir',
    });
  }
  const report = await checkStore(directory, { repair: options.repair ?? false });
  stdout(`${report.records} records are whole, newest revision ${report.revision}\n`);
  for (const key of report.damaged) stdout(`damaged: ${key}\n`);
  for (const problem of report.problems) stdout(`problem: ${problem}\n`);
  const sound = report.damaged.length === 0 && report.problems.length === 0;
  stdout(
    sound
      ? 'the store is sound\n'
      : options.repair
        ? 'repaired what could be repaired\n'
        : 'run again with --repair, or restore a backup\n',
  );
  return sound || options.repair ? 0 : 1;
}
