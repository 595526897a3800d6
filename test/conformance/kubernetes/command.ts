// Runs the end-to-end tests of Kubernetes that need no containers, and prints the results.
//
//   npm run conformance:kubernetes                             builds what is missing, starts `capstan up`, runs, stops
//   npm run conformance:kubernetes -- --kubeconfig FILE        against a running, disposable cluster
//   npm run conformance:kubernetes -- -t TEXT                  only tests whose full name matches TEXT
//   npm run conformance:kubernetes -- --log FILE               output of the tests
//   npm run conformance:kubernetes -- --kubeconfig FILE --write-baseline WORDS
//                                                              records the passing tests; WORDS describe the cluster
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startCapstan } from '../../support/capstan.ts';
import { missingKubectl } from '../../support/kubectl.ts';
import { startProcess } from '../../support/process.ts';
import { findOrBuildEndToEndTests, MissingPrerequisite } from '../go-build.ts';
import {
  type Baseline,
  formatComparison,
  formatVerdicts,
  type GinkgoReport,
  type Verdict,
  verdictsOf,
} from './report.ts';
import { withoutContainers } from './selection.ts';

const baselineFile = fileURLToPath(new URL('./passes-on-kubernetes.json', import.meta.url));
const say = (line: string): void => void process.stderr.write(`conformance: ${line}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      kubeconfig: { type: 'string' },
      testNamePattern: { type: 'string', short: 't' },
      log: { type: 'string' },
      'write-baseline': { type: 'string' },
    },
  });
  const missing = await missingKubectl();
  if (missing !== undefined) throw new MissingPrerequisite(missing);
  const program = await findOrBuildEndToEndTests(process.env, say);
  const own = values.kubeconfig === undefined ? await startCapstan({ pods: 'simulated' }) : undefined;
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
  });
  const directory = await mkdtemp(join(tmpdir(), 'capstan-conformance-'));
  const suite = startProcess(
    program,
    suiteArguments(own?.kubeconfig ?? values.kubeconfig!, directory, values.testNamePattern),
    { cwd: directory },
  );
  try {
    say(own ? `running against ${own.url}` : `running against ${values.kubeconfig}`);
    const outcome = await Promise.race([suite.ended, interrupted]);
    if (outcome === 'interrupted') return 130;
    if (values.log !== undefined) await writeFile(values.log, outcome.stdout + outcome.stderr);
    const text = await readFile(join(directory, 'ginkgo', 'report.json'), 'utf8').catch(() => undefined);
    if (text === undefined)
      throw new Error(`the tests ended without a report:\n${tail(outcome.stdout + outcome.stderr)}`);
    const verdicts = verdictsOf(JSON.parse(text) as GinkgoReport);
    if (verdicts.length === 0) throw new Error(`no test was run:\n${tail(outcome.stdout + outcome.stderr)}`);
    if (values['write-baseline'] !== undefined) await writeBaseline(values['write-baseline'], verdicts);
    process.stdout.write(`${formatVerdicts(verdicts)}\n${formatComparison(verdicts, await readBaseline())}`);
    return verdicts.some(({ state }) => state === 'failed') ? 1 : 0;
  } finally {
    await suite.stop();
    await own?.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function readBaseline(): Promise<Baseline> {
  return JSON.parse(await readFile(baselineFile, 'utf8')) as Baseline;
}

/** Tests that did not run keep their baseline. */
async function writeBaseline(cluster: string, verdicts: readonly Verdict[]): Promise<void> {
  const ran = new Set(verdicts.map(({ name }) => name));
  const kept = (await readBaseline()).passes.filter((name) => !ran.has(name));
  const passed = verdicts.filter(({ state }) => state === 'passed').map(({ name }) => name);
  const baseline: Baseline = { cluster, passes: [...kept, ...passed].sort() };
  await writeFile(baselineFile, `${JSON.stringify(baseline, null, 2)}\n`);
}

function suiteArguments(kubeconfig: string, directory: string, pattern: string | undefined): string[] {
  const { focus, leftOut } = withoutContainers;
  const flags: Record<string, string> = {
    kubeconfig,
    provider: 'skeleton',
    'kubectl-path': process.env['CAPSTAN_KUBECTL'] || 'kubectl',
    'report-dir': directory,
    'report-complete-ginkgo': 'true',
    // There are no nodes or containers with logs.
    'disable-log-dump': 'true',
    'dump-logs-on-failure': 'false',
    'allowed-not-ready-nodes': '-1',
    'ginkgo.skip': leftOut.map((one) => one.pattern).join('|'),
    'ginkgo.timeout': '6h',
    'ginkgo.no-color': 'true',
  };
  // ginkgo runs tests that match any focus pattern, so a pattern of the user replaces the whole list.
  const chosen = pattern === undefined ? focus : [pattern];
  return [
    ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    ...chosen.map((one) => `--ginkgo.focus=${one}`),
  ];
}

function tail(text: string): string {
  return text.split('\n').slice(-20).join('\n');
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof MissingPrerequisite ? error.message : String(error instanceof Error ? error.stack : error));
  process.exitCode = 1;
}
