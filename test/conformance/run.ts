// Checks the same kubectl expectations against a real kube-apiserver and the embedded API, and prints both results.
//
//   node --import tsx test/conformance/run.ts            builds what is missing, starts, compares, stops
//   node --import tsx test/conformance/run.ts -t TEXT    only expectations whose full name matches TEXT
//   node --import tsx test/conformance/run.ts --serve    only starts the real one, until Ctrl-C
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { missingKubectl } from '../support/kubectl.ts';
import { startProcess } from '../support/process.ts';
import { realKubeconfigVariable } from '../support/targets.ts';
import { findOrBuildPrograms, kubernetesVersion, MissingPrerequisite } from './go-build.ts';
import { type RealKubernetes, startRealKubernetes } from './real-kubernetes.ts';
import { allHold, compareTargets, formatComparison, type TestReport } from './report.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const targetNames = ['capstan', 'kubernetes'];

const say = (line: string): void => void process.stderr.write(`conformance: ${line}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { serve: { type: 'boolean', default: false }, testNamePattern: { type: 'string', short: 't' } },
  });
  const interrupted = new Promise<'interrupted'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve('interrupted'));
  });
  const missing = values.serve ? undefined : await missingKubectl();
  if (missing !== undefined) throw new MissingPrerequisite(missing);
  const programs = await findOrBuildPrograms(process.env, say);
  say(`starting kube-apiserver ${kubernetesVersion}`);
  const real = await startRealKubernetes(programs);
  try {
    say(`ready: ${real.url}`);
    if (values.serve) {
      process.stdout.write(`${real.kubeconfig}\n`);
      await interrupted;
      return 0;
    }
    const outcome = await Promise.race([compare(real, values.testNamePattern), interrupted]);
    return outcome === 'interrupted' ? 130 : outcome;
  } finally {
    await real.stop();
  }
}

async function compare(real: RealKubernetes, pattern: string | undefined): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-conformance-'));
  try {
    const outputFile = join(directory, 'report.json');
    const suite = startProcess(
      process.execPath,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        ...['run', '--project', 'e2e', 'test/e2e/kubectl/kubectl.test.ts'],
        ...['--reporter=json', `--outputFile=${outputFile}`],
        ...(pattern === undefined ? [] : ['-t', pattern]),
      ],
      {
        cwd: root,
        env: { ...(process.env as Record<string, string>), [realKubeconfigVariable]: real.kubeconfig },
      },
    );
    say('running the expectations against both');
    const { stdout, stderr } = await suite.ended;
    const report = JSON.parse(await readFile(outputFile, 'utf8').catch(() => '{"testResults":[]}')) as TestReport;
    const rows = compareTargets(report).filter(
      ({ verdicts }) => pattern === undefined || Object.values(verdicts).some((verdict) => verdict !== 'skipped'),
    );
    if (rows.length === 0) {
      const messages = report.testResults.map(({ message }) => message ?? '');
      throw new Error(`no expectation was run:\n${[...messages, stdout, stderr].join('\n')}`);
    }
    process.stdout.write(formatComparison(rows, targetNames));
    return allHold(rows, targetNames) ? 0 : 1;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof MissingPrerequisite ? error.message : String(error instanceof Error ? error.stack : error));
  process.exitCode = 1;
}
