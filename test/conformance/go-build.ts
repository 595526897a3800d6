import { access, mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describeOutcome, isInstalled, runProcess } from '../support/process.ts';

/** What the expectations are compared with. Newer versions: change here, run, and look at what differs. */
export const kubernetesVersion = '1.34.4';
export const etcdVersion = '3.6.6';

export type ProgramName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

/** Paths of the programs. */
export type Programs = Readonly<Record<ProgramName, string>>;

/** Something the machine lacks; the message says what and how to get around it. */
export class MissingPrerequisite extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;
type Say = (line: string) => void;

const kubernetesPrograms = ['kube-apiserver', 'kube-controller-manager'] as const;
const allPrograms: readonly ProgramName[] = ['etcd', ...kubernetesPrograms];

/**
 * The programs of a real control plane: those in CAPSTAN_REAL_KUBERNETES_BIN, or those built before into the cache
 * directory, or freshly built from their Go modules (several minutes the first time).
 */
export async function findOrBuildPrograms(env: Environment, say: Say): Promise<Programs> {
  const given = env['CAPSTAN_REAL_KUBERNETES_BIN'];
  if (given) {
    const absent = await missingIn(given);
    if (absent.length > 0) {
      throw new MissingPrerequisite(`CAPSTAN_REAL_KUBERNETES_BIN=${given} has no ${absent.join(', ')}`);
    }
    return programsIn(given);
  }
  const cache = join(cacheDirectory(env), `kubernetes-${kubernetesVersion}`);
  const binaries = join(cache, 'bin');
  const absent = await missingIn(binaries);
  if (absent.length > 0) {
    if (!(await isInstalled('go', 'version'))) {
      throw new MissingPrerequisite(
        `go is not installed, and ${absent.join(', ')} must be built first; install Go, or name a directory with them in CAPSTAN_REAL_KUBERNETES_BIN`,
      );
    }
    await mkdir(binaries, { recursive: true });
    if (absent.includes('etcd')) await buildEtcd(cache, binaries, say);
    await buildKubernetes(cache, binaries, absent, say);
  }
  return programsIn(binaries);
}

/** CAPSTAN_CONFORMANCE_CACHE, or a place below the user's cache directory. */
export function cacheDirectory(env: Environment): string {
  return (
    env['CAPSTAN_CONFORMANCE_CACHE'] ||
    join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'capstan', 'conformance')
  );
}

function programsIn(directory: string): Programs {
  return Object.fromEntries(allPrograms.map((name) => [name, join(directory, name)])) as Record<ProgramName, string>;
}

/** Whether something is there by this name. */
export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function missingIn(directory: string): Promise<ProgramName[]> {
  const present = await Promise.all(allPrograms.map((name) => exists(join(directory, name))));
  return allPrograms.filter((_, index) => !present[index]);
}

async function go(cwd: string, ...args: string[]): Promise<string> {
  const env = { ...(process.env as Record<string, string>), GOFLAGS: '-buildvcs=false' };
  const outcome = await runProcess('go', args, { cwd, env });
  if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
  return outcome.stdout;
}

async function goVersion(cwd: string): Promise<string> {
  return (await go(cwd, 'env', 'GOVERSION')).trim().replace(/^go/, '');
}

/** The server is a library with a one-line main: a module of our own calls it. */
async function buildEtcd(cache: string, binaries: string, say: Say): Promise<void> {
  say(`building etcd ${etcdVersion}`);
  const source = join(cache, 'etcd-source');
  await mkdir(source, { recursive: true });
  const server = 'go.etcd.io/etcd/server/v3';
  await writeFile(
    join(source, 'go.mod'),
    `module conformance/etcd\n\ngo ${await goVersion(source)}\n\nrequire ${server} v${etcdVersion}\n`,
  );
  await writeFile(
    join(source, 'main.go'),
    [
      'package main',
      '',
      'import (',
      '\t"os"',
      '',
      `\t"${server}/etcdmain"`,
      ')',
      '',
      'func main() { etcdmain.Main(os.Args) }',
      '',
    ].join('\n'),
  );
  await go(source, 'mod', 'tidy');
  await go(source, 'build', '-o', join(binaries, 'etcd'), '.');
}

interface GoModule {
  Replace?: { Old: { Path: string }; New: { Path: string } }[];
}

/**
 * A module that depends on Kubernetes and the packages named. Kubernetes points its own libraries at directories of its
 * repository, which a module that depends on it does not have: here they are pointed at their published versions instead.
 */
async function kubernetesModule(source: string, packages: readonly string[], say: Say): Promise<void> {
  await mkdir(source, { recursive: true });
  const module = `k8s.io/kubernetes@v${kubernetesVersion}`;
  say(`fetching ${module}`);
  const { GoMod } = JSON.parse(await go(source, 'mod', 'download', '-json', module)) as { GoMod: string };
  const { Replace = [] } = JSON.parse(await go(source, 'mod', 'edit', '-json', GoMod)) as GoModule;
  const libraryVersion = `v0.${kubernetesVersion.slice(2)}`;
  const replaced = Replace.filter(({ New }) => New.Path.startsWith('./staging/')).map(
    ({ Old: { Path } }) => `replace ${Path} => ${Path} ${libraryVersion}`,
  );
  await writeFile(
    join(source, 'go.mod'),
    [
      'module conformance/kubernetes',
      `go ${await goVersion(source)}`,
      `require k8s.io/kubernetes v${kubernetesVersion}`,
      ...replaced,
      '',
    ].join('\n\n'),
  );
  const imports = packages.map((name) => `import _ "${name}"`);
  await writeFile(join(source, 'programs.go'), ['//go:build tools', 'package programs', ...imports, ''].join('\n\n'));
  await go(source, 'mod', 'tidy');
}

async function buildKubernetes(
  cache: string,
  binaries: string,
  wanted: readonly ProgramName[],
  say: Say,
): Promise<void> {
  const names = kubernetesPrograms.filter((name) => wanted.includes(name));
  if (names.length === 0) return;
  const source = join(cache, 'kubernetes-source');
  const packages = kubernetesPrograms.map((name) => `k8s.io/kubernetes/cmd/${name}`);
  await kubernetesModule(source, packages, say);
  for (const name of names) {
    say(`building ${name} ${kubernetesVersion}`);
    await go(
      source,
      'build',
      ...['-ldflags', versionFlags()],
      ...['-o', join(binaries, name)],
      `k8s.io/kubernetes/cmd/${name}`,
    );
  }
}

/** Kubernetes' own end-to-end tests as one program: from the cache, or freshly built (long, the first time). */
export async function findOrBuildEndToEndTests(env: Environment, say: Say): Promise<string> {
  const cache = join(cacheDirectory(env), `kubernetes-${kubernetesVersion}`);
  const program = join(cache, 'bin', 'e2e.test');
  if (await isThere(program)) return program;
  if (!(await isInstalled('go', 'version'))) {
    throw new MissingPrerequisite(`go is not installed, and the tests of Kubernetes must be built first: ${program}`);
  }
  const source = join(cache, 'e2e-source');
  const suite = 'k8s.io/kubernetes/test/e2e';
  await kubernetesModule(source, [suite], say);
  say(`building the end-to-end tests of Kubernetes ${kubernetesVersion}; this takes long`);
  await mkdir(join(cache, 'bin'), { recursive: true });
  await go(source, 'test', '-c', '-ldflags', `-s -w ${versionFlags()}`, '-o', program, suite);
  return program;
}

/** A program of a Go module that can be built as a dependency of ours. */
export interface GoProgram {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** the folder of its main package in the module */
  readonly folder: string;
  /** variables of packages that say which version it is */
  readonly variables?: Readonly<Record<string, string>>;
}

/** A program from the cache, or freshly built from its module. */
export async function findOrBuildGoProgram(wanted: GoProgram, env: Environment, say: Say): Promise<string> {
  const { name, module, version, folder, variables = {} } = wanted;
  const cache = join(cacheDirectory(env), `${name}-${version}`);
  const program = join(cache, 'bin', name);
  if (await isThere(program)) return program;
  if (!(await isInstalled('go', 'version'))) {
    throw new MissingPrerequisite(`go is not installed, and ${name} must be built first: ${program}`);
  }
  say(`building ${name} ${version}; this takes minutes`);
  const source = join(cache, 'source');
  await mkdir(source, { recursive: true });
  const main = `${module}/${folder}`;
  await writeFile(
    join(source, 'go.mod'),
    `module conformance/${name}\n\ngo ${await goVersion(source)}\n\nrequire ${module} ${version}\n`,
  );
  await writeFile(join(source, 'program.go'), `//go:build tools\n\npackage program\n\nimport _ "${main}"\n`);
  await go(source, 'mod', 'tidy');
  await mkdir(join(cache, 'bin'), { recursive: true });
  const settings = Object.entries(variables).map(([variable, value]) => `-X ${variable}=${value}`);
  await go(source, 'build', '-ldflags', ['-s -w', ...settings].join(' '), '-o', program, main);
  return program;
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** A program built as a dependency does not know its version; clients read it from /version. */
function versionFlags(): string {
  const [major, minor] = kubernetesVersion.split('.');
  const values = { gitVersion: `v${kubernetesVersion}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
}
