import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TarEntry } from '../../src/artifacts/testing/tar.ts';
import { directoryEntry, fileEntry, treeEntries } from './files.ts';

const run = promisify(execFile);
const home = 'opt/capstan';
/** directories of the package that the program needs */
const folders = ['bin', 'charts', 'dist', 'examples', 'stacks', 'templates'];
/** files of dependencies that only developers need */
const developers = ['.d.ts', '.d.mts', '.d.cts', '.map', '.md', '.markdown', '.ts'];

export interface ProgramFiles {
  readonly entries: readonly TarEntry[];
  /** paths of packages, as in the lock file */
  readonly installed: ReadonlySet<string>;
}

/** Collects the built program and its dependencies. */
export async function programFiles(root: string): Promise<ProgramFiles> {
  const stage = await mkdtemp(join(tmpdir(), 'capstan-image-'));
  try {
    for (const name of ['package.json', 'package-lock.json']) await copyFile(join(root, name), join(stage, name));
    await run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: stage });
    const packages = await treeEntries(
      join(stage, 'node_modules'),
      `${home}/node_modules`,
      (path) => !isForDevelopers(path),
    );
    const own = await Promise.all(
      folders.map((name) => treeEntries(join(root, name), `${home}/${name}`, (path) => !path.endsWith('.map'))),
    );
    return {
      entries: [
        directoryEntry('opt'),
        directoryEntry(home),
        ...(await Promise.all(
          ['LICENSE', 'package.json'].map((name) => fileEntry(join(root, name), `${home}/${name}`)),
        )),
        ...own.flat(),
        ...packages,
      ],
      installed: await packagesIn(join(stage, 'node_modules'), 'node_modules'),
    };
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

const isForDevelopers = (path: string): boolean =>
  path.endsWith('/.package-lock.json') ||
  path.endsWith('/node_modules/.bin') ||
  developers.some((ending) => path.endsWith(ending));

async function packagesIn(directory: string, path: string): Promise<Set<string>> {
  const found = new Set<string>();
  for (const child of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
    if (!child.isDirectory() || child.name.startsWith('.')) continue;
    const name = `${path}/${child.name}`;
    if (child.name.startsWith('@')) {
      for (const one of await packagesIn(join(directory, child.name), name)) found.add(one);
      continue;
    }
    found.add(name);
    const nested = join(directory, child.name, 'node_modules');
    for (const one of await packagesIn(nested, `${name}/node_modules`)) found.add(one);
  }
  return found;
}
