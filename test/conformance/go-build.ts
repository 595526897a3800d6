import { access, mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describeOutcome, isInstalled, runProcess } from '../support/process.ts';

/** What the expectations are compared with. Newer versions: change here, run, and look at what differs. */
export const kubernetesVersion = '1.34.4';
export const etcdVersion = '3.6.6';

type ProgramName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager';

/** Paths of the programs. */
export type Programs = Readonly<Record<ProgramName, string>>;

/** What can be built of Kubernetes. */
export type KubernetesProgram =
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kube-proxy'
  | 'kubelet';

/** Something the machine lacks; the message says what and how to get around it. */
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

/**
 * The programs of a real control plane: those in CAPSTAN_REAL_KUBERNETES_BIN, or those built before into the cache
 * directory, or freshly built from their Go modules (several minutes the first time).
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
    ...(await findOrBuildKubernetes(kubernetesVersion, ['kube-apiserver', 'kube-controller-manager'], env, say)),
  };
}

/** The scheduler that goes with them, found or built likewise. */
export async function findOrBuildScheduler(env: Environment, say: Say): Promise<string> {
  const given = env['CAPSTAN_REAL_KUBERNETES_BIN'];
  if (!given) return (await findOrBuildKubernetes(kubernetesVersion, ['kube-scheduler'], env, say))['kube-scheduler'];
  if ((await missingIn(given, ['kube-scheduler'])).length === 0) return join(given, 'kube-scheduler');
  throw new MissingPrerequisite(`CAPSTAN_REAL_KUBERNETES_BIN=${given} has no kube-scheduler`);
}

/** Programs of a version of Kubernetes, from the cache or freshly built. */
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

/** An etcd of a version, from the cache or freshly built. The server is a library with a one-line main. */
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

/** A program whose main package is ours, and the modules it is made of. */
export interface OwnProgram {
  readonly name: string;
  readonly version: string;
  /** module -> version */
  readonly requires: Readonly<Record<string, string>>;
  /** lines of main.go */
  readonly main: readonly string[];
}

/** A program with a main package of ours, from the cache or freshly built. */
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

/** CAPSTAN_CONFORMANCE_CACHE, or a place below the user's cache directory. */
export function cacheDirectory(env: Environment): string {
  return (
    env['CAPSTAN_CONFORMANCE_CACHE'] ||
    join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'capstan', 'conformance')
  );
}

function programsIn<Name extends string>(directory: string, names: readonly Name[]): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, join(directory, name)])) as Record<Name, string>;
}

/** Whether something is there by this name. */
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
  // Without C libraries a program is one file that runs anywhere, also as all there is in an image.
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
 * A module that depends on Kubernetes and the packages named. Kubernetes points its own libraries at directories of its
 * repository, which a module that depends on it does not have: here they are pointed at their published versions instead.
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

/** Kubernetes' own end-to-end tests as one program: from the cache, or freshly built (long, the first time). */
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

/** A program built as a dependency does not know its version; clients read it from /version. */
function versionFlags(version: string): string {
  const [major, minor] = version.split('.');
  const values = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
}
