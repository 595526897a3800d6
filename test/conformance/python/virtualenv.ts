import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeOutcome, isInstalled, runProcess } from '../../support/process.ts';
import { cacheDirectory, exists, MissingPrerequisite } from '../go-build.ts';
import type { Say } from '../upstream/command.ts';

const requirementsFile = fileURLToPath(new URL('./requirements.txt', import.meta.url));

/**
 * Creates a virtual environment with exactly the packages of requirements.txt, once, below the cache directory. The
 * list of installed packages is written last, so a directory without it is incomplete and recreated.
 */
export async function findOrMakeVirtualenv(say: Say): Promise<string> {
  const requirements = await readFile(requirementsFile, 'utf8');
  const key = createHash('sha256').update(requirements).digest('hex').slice(0, 12);
  const directory = join(cacheDirectory(process.env), `python-suites-${key}`);
  const done = join(directory, 'installed.txt');
  const python = join(directory, 'bin', 'python');
  if (await exists(done)) return python;
  if (!(await isInstalled('python3', '-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))'))) {
    throw new MissingPrerequisite(
      'python3 (3.10 or newer, with venv) is not installed, and the tests are written in it',
    );
  }
  say('installing the tests; this is done once');
  await rm(directory, { recursive: true, force: true });
  await mkdir(cacheDirectory(process.env), { recursive: true });
  await run('python3', ['-m', 'venv', directory]);
  await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirementsFile]);
  const freeze = await runProcess(python, ['-m', 'pip', 'freeze', '--disable-pip-version-check']);
  await writeFile(done, freeze.stdout);
  return python;
}

async function run(file: string, args: readonly string[]): Promise<void> {
  const outcome = await runProcess(file, args);
  if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
}
