import { access, mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describeOutcome, isInstalled, runProcess } from '../support/process.ts';

/** Reference versions. To upgrade, change them here, run, and check the differences. */
export const kubernetesVersion = '1.34.4';
export const etcdVersion = '3.6.6';

/** Names another Kubernetes release than the reference version, for tests of the oldest and the newest one. */
export const kubernetesVersionVariable = 'CAPSTAN_REAL_KUBERNETES_VERSION';

type ProgramName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

/** Paths of the programs. */
export type Programs = Readonly<Record<ProgramName, string>>;

/** Programs of Kubernetes that can be built. */
export type KubernetesProgram =
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kube-proxy'
  | 'kubelet';

/** A missing prerequisite. The message names it and a workaround. */
export class MissingPrerequisite extends Error {}

type Environment = Readonly<Record<string, string | undefined>>;
type Say = (line: string) => void;

const kubernetesPrograms: readonly KubernetesProgram[] = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kube-proxy',
  'kubelet',
];
const allPrograms: readonly ProgramName[] = ['etcd', 'kube-apiserver', 'kube-controller-manager'];

function wantedVersion(env: Environment): string {
  return (env[kubernetesVersionVariable] || kubernetesVersion).replace(/^v/, '');
}

/**
 * Finds the programs of a control plane in CAPSTAN_REAL_KUBERNETES_BIN or in the cache directory, or builds them from
 * their Go modules (several minutes the first time). CAPSTAN_REAL_KUBERNETES_VERSION chooses the release to build.
 */
export async function findOrBuildPrograms(env: Environment, say: Say): Promise<Programs> {
  const given = env['CAPSTAN_REAL_KUBERNETES_BIN'];
  if (given) {
    const absent = await missingIn(given, allPrograms);
    if (absent.length > 0) {
      throw new MissingPrerequisite(`CAPSTAN_REAL_KUBERNETES_BIN=${given} has no ${absent.join(', ')}`);
    }
    return programsIn(given, allPrograms);
  }
  return {
    etcd: await findOrBuildEtcd(etcdVersion, env, say),
    ...(await findOrBuildKubernetes(wantedVersion(env), ['kube-apiserver', 'kube-controller-manager'], env, say)),
  };
}

/** Finds or builds the scheduler of the same version. */
export async function findOrBuildScheduler(env: Environment, say: Say): Promise<string> {
  const given = env['CAPSTAN_REAL_KUBERNETES_BIN'];
  if (!given) return (await findOrBuildKubernetes(wantedVersion(env), ['kube-scheduler'], env, say))['kube-scheduler'];
  if ((await missingIn(given, ['kube-scheduler'])).length === 0) return join(given, 'kube-scheduler');
  throw new MissingPrerequisite(`CAPSTAN_REAL_KUBERNETES_BIN=${given} has no kube-scheduler`);
}

/** Finds programs of a Kubernetes version in the cache, or builds them. */
export async function findOrBuildKubernetes<Name extends KubernetesProgram>(
  version: string,
  names: readonly Name[],
  env: Environment,
  say: Say,
): Promise<Readonly<Record<Name, string>>> {
  const cache = join(cacheDirectory(env), `kubernetes-${version}`);
  const binaries = join(cache, 'bin');
  const absent = await missingIn(binaries, names);
  if (absent.length > 0) {
    await requireGo(absent);
    await mkdir(binaries, { recursive: true });
    await buildKubernetes({ version, cache, binaries, say }, absent);
  }
  return programsIn(binaries, names);
}

/** Finds an etcd version in the cache, or builds it. The server is a library with a main function of one line. */
export function findOrBuildEtcd(version: string, env: Environment, say: Say): Promise<string> {
  const server = 'go.etcd.io/etcd/server/v3';
  const main = [
    'package main',
    '',
    'import (',
    '\t"os"',
    '',
    `\t"${server}/etcdmain"`,
    ')',
    '',
    'func main() { etcdmain.Main(os.Args) }',
  ];
  return findOrBuildMain({ name: 'etcd', version, requires: { [server]: `v${version}` }, main }, env, say);
}

/** A program with a main package of this project, and its modules. */
export interface OwnProgram {
  readonly name: string;
  readonly version: string;
  /** module -> version */
  readonly requires: Readonly<Record<string, string>>;
  /** lines of main.go */
  readonly main: readonly string[];
}

/** Finds a program in the cache, or builds it from its main package. */
export async function findOrBuildMain(wanted: OwnProgram, env: Environment, say: Say): Promise<string> {
  const { name, version, requires, main } = wanted;
  const cache = join(cacheDirectory(env), `${name}-${version}`);
  const program = join(cache, 'bin', name);
  if (await exists(program)) return program;
  await requireGo([name]);
  say(`building ${name} ${version}`);
  const source = join(cache, 'source');
  await mkdir(source, { recursive: true });
  await mkdir(join(cache, 'bin'), { recursive: true });
  const modules = Object.entries(requires).map(([module, at]) => `require ${module} ${at}`);
  const goMod = [`module conformance/${name}`, `go ${await goVersion(source)}`, ...modules, ''];
  await writeFile(join(source, 'go.mod'), goMod.join('\n\n'));
  await writeFile(join(source, 'main.go'), [...main, ''].join('\n'));
  await go(source, 'mod', 'tidy');
  await go(source, 'build', '-ldflags', '-s -w', '-o', program, '.');
  return program;
}

async function requireGo(absent: readonly string[]): Promise<void> {
  if (await isInstalled('go', 'version')) return;
  throw new MissingPrerequisite(
    `go is not installed, and ${absent.join(', ')} must be built first; install Go, or name a directory with them in CAPSTAN_REAL_KUBERNETES_BIN`,
  );
}

/** Returns CAPSTAN_CONFORMANCE_CACHE, or a directory below the user's cache directory. */
export function cacheDirectory(env: Environment): string {
  return (
    env['CAPSTAN_CONFORMANCE_CACHE'] ||
    join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'capstan', 'conformance')
  );
}

function programsIn<Name extends string>(directory: string, names: readonly Name[]): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, join(directory, name)])) as Record<Name, string>;
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function missingIn<Name extends string>(directory: string, names: readonly Name[]): Promise<Name[]> {
  const present = await Promise.all(names.map((name) => exists(join(directory, name))));
  return names.filter((_, index) => !present[index]);
}

async function go(cwd: string, ...args: string[]): Promise<string> {
  // Without cgo a program is a single static file, which can also be the only file of an image.
  const env = { ...(process.env as Record<string, string>), GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0' };
  const outcome = await runProcess('go', args, { cwd, env });
  if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
  return outcome.stdout;
}

async function goVersion(cwd: string): Promise<string> {
  return (await go(cwd, 'env', 'GOVERSION')).trim().replace(/^go/, '');
}

interface GoModule {
  Replace?: { Old: { Path: string }; New: { Path: string } }[];
}

/**
 * Creates a module that depends on Kubernetes and the given packages. Kubernetes replaces its own libraries by
 * directories of its repository, which are missing here, so the module replaces them by their published versions.
 */
async function kubernetesModule(source: string, version: string, packages: readonly string[], say: Say): Promise<void> {
  await mkdir(source, { recursive: true });
  const module = `k8s.io/kubernetes@v${version}`;
  say(`fetching ${module}`);
  const { GoMod } = JSON.parse(await go(source, 'mod', 'download', '-json', module)) as { GoMod: string };
  const { Replace = [] } = JSON.parse(await go(source, 'mod', 'edit', '-json', GoMod)) as GoModule;
  const libraryVersion = `v0.${version.slice(2)}`;
  const replaced = Replace.filter(({ New }) => New.Path.startsWith('./staging/')).map(
    ({ Old: { Path } }) => `replace ${Path} => ${Path} ${libraryVersion}`,
  );
  await writeFile(
    join(source, 'go.mod'),
    [
      'module conformance/kubernetes',
      `go ${await goVersion(source)}`,
      `require k8s.io/kubernetes v${version}`,
      ...replaced,
      '',
    ].join('\n\n'),
  );
  const imports = packages.map((name) => `import _ "${name}"`);
  await writeFile(join(source, 'programs.go'), ['//go:build tools', 'package programs', ...imports, ''].join('\n\n'));
  await go(source, 'mod', 'tidy');
}

async function buildKubernetes(
  { version, cache, binaries, say }: { version: string; cache: string; binaries: string; say: Say },
  names: readonly KubernetesProgram[],
): Promise<void> {
  const source = join(cache, 'kubernetes-source');
  const packages = kubernetesPrograms.map((name) => `k8s.io/kubernetes/cmd/${name}`);
  await kubernetesModule(source, version, packages, say);
  for (const name of names) {
    say(`building ${name} ${version}; this takes minutes`);
    await go(
      source,
      'build',
      ...['-ldflags', `-s -w ${versionFlags(version)}`],
      ...['-o', join(binaries, name)],
      `k8s.io/kubernetes/cmd/${name}`,
    );
  }
}

/** Finds the end-to-end tests of Kubernetes in the cache, or builds them as one program (slow the first time). */
export async function findOrBuildEndToEndTests(env: Environment, say: Say): Promise<string> {
  const cache = join(cacheDirectory(env), `kubernetes-${kubernetesVersion}`);
  const program = join(cache, 'bin', 'e2e.test');
  if (await exists(program)) return program;
  if (!(await isInstalled('go', 'version'))) {
    throw new MissingPrerequisite(`go is not installed, and the tests of Kubernetes must be built first: ${program}`);
  }
  const source = join(cache, 'e2e-source');
  const suite = 'k8s.io/kubernetes/test/e2e';
  await kubernetesModule(source, kubernetesVersion, [suite], say);
  say(`building the end-to-end tests of Kubernetes ${kubernetesVersion}; this takes long`);
  await mkdir(join(cache, 'bin'), { recursive: true });
  await go(source, 'test', '-c', '-ldflags', `-s -w ${versionFlags(kubernetesVersion)}`, '-o', program, suite);
  return program;
}

/** A program of a Go module that can be built as a dependency. */
export interface GoProgram {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** directory of its main package in the module */
  readonly folder: string;
  /** package variables that contain the version */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Finds a program in the cache, or builds it from its module. */
export async function findOrBuildGoProgram(wanted: GoProgram, env: Environment, say: Say): Promise<string> {
  const { name, module, version, folder, variables = {} } = wanted;
  const cache = join(cacheDirectory(env), `${name}-${version}`);
  const program = join(cache, 'bin', name);
  if (await exists(program)) return program;
  await requireGo([name]);
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

/** A program built as a dependency lacks its version, which clients read from /version. */
function versionFlags(version: string): string {
  const [major, minor] = version.split('.');
  const values = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
}
