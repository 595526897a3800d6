// Runs end-to-end tests with a real Kubernetes as management cluster, one after the other.
//
//   npm run e2e:real-kubernetes                             builds what is missing (minutes, the first time), runs all of them
//   npm run e2e:real-kubernetes -- guide-000 guide-003
//   npm run e2e:real-kubernetes -- --embedded               the same tests on the embedded API
//   npm run e2e:real-kubernetes -- --kubernetes 1.28.15     another release
//
// The Kubernetes consists of etcd, kube-apiserver, kube-controller-manager and kube-scheduler on loopback, from
// CAPSTAN_REAL_KUBERNETES_BIN or built from their Go modules. `capstan controller --install`, `capstan cloud` and
// `capstan node --simulated` run beside it.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  findOrBuildPrograms,
  findOrBuildScheduler,
  kubernetesVersionVariable,
  MissingPrerequisite,
} from '../../conformance/go-build.ts';
import { startRealKubernetes } from '../../conformance/real-kubernetes.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { managementVariable } from '../../support/on-real-kubernetes.ts';
import { type RunningProcess, startProcess } from '../../support/process.ts';
import { realKubeconfigVariable } from '../../support/targets.ts';

/** Suites about the use of the management API, not about how `capstan up` runs. Each file gets a Kubernetes of its own. */
const eitherWay = [
  'guide-000',
  'guide-001',
  'guide-002',
  'guide-003',
  'guide-004/guide-004',
  'guides/guides',
  'add-ons',
  'images',
  'runtime-extensions',
  'stacks',
  'topology/topology',
  'topology-verbs',
  'vm-cluster',
  'whole-life',
];
/** Suites that are about another Kubernetes. They share one. */
const realOnly = ['move', 'simulated-node', 'real-kubernetes'];

type Environment = Readonly<Record<string, string>>;

const say = (line: string): void => void process.stderr.write(`e2e: ${line}\n`);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { embedded: { type: 'boolean' }, kubernetes: { type: 'string' } },
    allowPositionals: true,
  });
  const suites = values.embedded ? eitherWay : [...eitherWay, ...realOnly];
  const unknown = positionals.find((name) => !suites.some((suite) => isPartOf(suite, name)));
  if (unknown !== undefined) throw new MissingPrerequisite(`there is no suite ${unknown}: ${suites.join(', ')}`);
  const missing = await missingKubectl();
  if (missing !== undefined) throw new MissingPrerequisite(missing);
  const env: Environment = {
    ...(process.env as Record<string, string>),
    ...(values.kubernetes !== undefined && { [kubernetesVersionVariable]: values.kubernetes }),
  };
  const chosen = (from: readonly string[]): string[] =>
    positionals.length === 0 ? [...from] : positionals.filter((name) => from.some((suite) => isPartOf(suite, name)));
  if (values.embedded) return await run(chosen(eitherWay), env);
  await findOrBuildPrograms(env, say);
  await findOrBuildScheduler(env, say);
  const code = await run(chosen(eitherWay), { ...env, [managementVariable]: 'real-kubernetes' });
  return (await runShared(chosen(realOnly), env)) || code;
}

const isPartOf = (suite: string, name: string): boolean => name === suite || name.startsWith(`${suite}/`);

/** Runs suites against one Kubernetes. */
async function runShared(suites: readonly string[], env: Environment): Promise<number> {
  if (suites.length === 0) return 0;
  const scheduler = await findOrBuildScheduler(env, say);
  const kubernetes = await startRealKubernetes(await findOrBuildPrograms(env, say), { scheduler });
  try {
    return await run(suites, { ...env, [realKubeconfigVariable]: kubernetes.kubeconfig });
  } finally {
    await kubernetes.stop();
  }
}

async function run(suites: readonly string[], env: Environment): Promise<number> {
  if (suites.length === 0 || interrupted) return interrupted ? 1 : 0;
  // Started directly, so that signals reach it.
  const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));
  const files = suites.map((name) => `test/e2e/${name}`);
  current = startProcess(process.execPath, [vitest, 'run', '--project', 'clusters', '--project', 'e2e', ...files], {
    env,
    onStdout: (text) => void process.stdout.write(text),
  });
  const { code, stderr } = await current.ended;
  process.stderr.write(stderr);
  return code ?? 1;
}

let current: RunningProcess | undefined;
let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interrupted = true;
    void current?.stop(signal);
  });
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    if (!(error instanceof MissingPrerequisite)) throw error;
    say(error.message);
    process.exitCode = 2;
  },
);
