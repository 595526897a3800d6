import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot: string = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** The arguments users' node is started with, by the first line of the command. */
export function shippedNodeArguments(): string[] {
  const [firstLine = ''] = readFileSync(join(projectRoot, 'bin/capstan.js'), 'utf8').split('\n', 1);
  return firstLine.split(' ').filter((word) => word.startsWith('--'));
}

/** For what is measured inside this process: runs it again as users' node would run it, unless it already is. */
export function ensureShippedNodeArguments(): void {
  const missing = shippedNodeArguments().filter((argument) => !process.execArgv.includes(argument));
  if (missing.length === 0) return;
  const { status } = spawnSync(process.execPath, [...process.execArgv, ...missing, ...process.argv.slice(1)], {
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}
