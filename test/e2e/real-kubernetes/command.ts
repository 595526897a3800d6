// Runs the end-to-end tests of the guides with a real Kubernetes as management cluster, one after the other, each on a new one.
//
//   npm run e2e:real-kubernetes                       builds what is missing (minutes, the first time), runs all of them
//   npm run e2e:real-kubernetes -- guide-000 guide-003
//   npm run e2e:real-kubernetes -- --embedded         the same tests on the embedded API
//
// The Kubernetes consists of etcd, kube-apiserver, kube-controller-manager and kube-scheduler on loopback, from
// CAPSTAN_REAL_KUBERNETES_BIN or built from their Go modules. `capstan controller --install`, `capstan cloud` and
// `capstan node --simulated` run beside it.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findOrBuildPrograms, findOrBuildScheduler, MissingPrerequisite } from '../../conformance/go-build.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { managementVariable } from '../../support/on-real-kubernetes.ts';
import { startProcess } from '../../support/process.ts';

/** Suites about the use of the management API, not about how `capstan up` runs. */
const suites = ['guide-000', 'guide-001', 'guide-002', 'guide-003', 'guides/guides'];
const say = (line: string): void => void process.stderr.write(`e2e: ${line}\n`);

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: { embedded: { type: 'boolean' } }, allowPositionals: true });
  const unknown = positionals.find((name) => !suites.includes(name));
  if (unknown !== undefined) throw new MissingPrerequisite(`there is no suite ${unknown}: ${suites.join(', ')}`);
  const missing = await missingKubectl();
  if (missing !== undefined) throw new MissingPrerequisite(missing);
  if (!values.embedded) {
    await findOrBuildPrograms(process.env, say);
    await findOrBuildScheduler(process.env, say);
  }
  const chosen = (positionals.length > 0 ? positionals : suites).map((name) => `test/e2e/${name}`);
  // Started directly, so that signals reach it.
  const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));
  const tests = startProcess(process.execPath, [vitest, 'run', '--project', 'clusters', ...chosen], {
    env: {
      ...(process.env as Record<string, string>),
      ...(!values.embedded && { [managementVariable]: 'real-kubernetes' }),
    },
    onStdout: (text) => void process.stdout.write(text),
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void tests.stop(signal));
  const { code, stderr } = await tests.ended;
  process.stderr.write(stderr);
  return code ?? 1;
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
