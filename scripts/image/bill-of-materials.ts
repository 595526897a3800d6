import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { NodeRuntime, SharedLibrary } from './node-runtime.ts';

const run = promisify(execFile);
/** A variable of dpkg-query, not of JavaScript. */
const versionFormat = '--showformat=$' + '{Version}';

interface Component {
  readonly type: 'application' | 'library' | 'platform';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { readonly license: { readonly id: string } }[];
}

interface LockFile {
  readonly packages: Readonly<Record<string, { version?: string; dev?: boolean; license?: string }>>;
}

/**
 * Builds the bill of materials of the image in CycloneDX: this package, its dependencies, Node and its shared
 * libraries.
 */
export async function billOfMaterials(
  lockPath: string,
  runtime: NodeRuntime,
  installed: ReadonlySet<string>,
): Promise<string> {
  const lock = JSON.parse(await readFile(lockPath, 'utf8')) as LockFile;
  const own = lock.packages[''];
  const dependencies = Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true && installed.has(path))
    .map(([path, { version = '', license }]) => npmComponent(nameOf(path), version, license));
  const components: Component[] = [
    ...dependencies,
    { type: 'platform', name: 'node', version: runtime.version, purl: `pkg:generic/node@${runtime.version}` },
    ...(await libraryComponents(runtime.libraries)),
  ];
  const component = npmComponent('capstan', own?.version ?? '', own?.license);
  return `${JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      version: 1,
      metadata: { component: { ...component, type: 'application' } },
      components: components.sort((a, b) => (a.purl < b.purl ? -1 : 1)),
    },
    undefined,
    2,
  )}\n`;
}

function npmComponent(name: string, version: string, license: string | undefined): Component {
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license !== undefined && { licenses: [{ license: { id: license } }] }),
  };
}

/** `node_modules/a/node_modules/@b/c` is the package `@b/c`. */
function nameOf(path: string): string {
  const mark = 'node_modules/';
  return path.slice(path.lastIndexOf(mark) + mark.length);
}

/** Lists libraries with their Debian packages; on other systems only by file. */
async function libraryComponents(libraries: readonly SharedLibrary[]): Promise<Component[]> {
  const found = await Promise.all(libraries.map(debianPackage));
  return [...new Map(found.map((component) => [component.purl, component])).values()];
}

async function debianPackage({ path, file }: SharedLibrary): Promise<Component> {
  for (const candidate of [file, file.replace(/^\/usr/, ''), path]) {
    const owner = await run('dpkg-query', ['--search', candidate]).then(
      ({ stdout }) => stdout.split(': ')[0],
      () => undefined,
    );
    if (owner === undefined) continue;
    const { stdout: version } = await run('dpkg-query', ['--show', versionFormat, owner]);
    const [name = owner] = owner.split(':');
    return { type: 'library', name, version, purl: `pkg:deb/debian/${name}@${encodeURIComponent(version)}` };
  }
  const name = path.slice(path.lastIndexOf('/') + 1);
  return { type: 'library', name, version: '', purl: `pkg:generic/${name}` };
}
