import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../../support/process.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The used part of the test runner's JSON report. */
export interface ContractReport {
  testResults: {
    name: string;
    /** reason why a whole file could not run */
    message?: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] | null }[];
  }[];
}

/**
 * Runs test/contract against a real cloud and the simulated one. `cloudsYaml` has the entry `admin`. Returns the exit
 * code.
 */
export async function runContract(cloudsYaml: string, pattern: string | undefined): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-contract-'));
  try {
    const outputFile = join(directory, 'report.json');
    const suite = startProcess(
      process.execPath,
      [
        join(root, 'node_modules/vitest/vitest.mjs'),
        ...['run', '--project', 'e2e', 'test/contract'],
        ...['--reporter=json', `--outputFile=${outputFile}`],
        ...(pattern === undefined ? [] : ['-t', pattern]),
      ],
      {
        cwd: root,
        env: {
          ...(process.env as Record<string, string>),
          CAPSTAN_REAL_CLOUDS_YAML: cloudsYaml,
        },
      },
    );
    const { stdout, stderr } = await suite.ended;
    const text = await readFile(outputFile, 'utf8').catch(() => undefined);
    if (text === undefined) throw new Error(`the contract suite was not run:\n${stdout}\n${stderr}`);
    const summary = summarize(JSON.parse(text) as ContractReport);
    process.stdout.write(summary.text);
    return summary.ok ? 0 : 1;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Formats totals by cloud, then failures with their first lines, and skips, whose names give the reason. */
export function summarize(report: ContractReport): { text: string; ok: boolean } {
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const broken = report.testResults.filter(({ message, assertionResults }) => message && assertionResults.length === 0);
  const failed = tests.filter(({ status }) => status === 'failed');
  const skipped = tests.filter(({ status }) => status !== 'failed' && status !== 'passed');
  const totals = ['simulated', 'real'].map((cloud) => {
    const held = tests.filter(({ fullName }) => fullName.includes(`(${cloud} cloud)`));
    const count = (status: string): number => held.filter((test) => test.status === status).length;
    const rest = held.length - count('passed') - count('failed');
    return `${cloud} cloud: ${count('passed')} of ${held.length} hold, ${count('failed')} fail, ${rest} skipped`;
  });
  const lines = [
    ...totals,
    ...broken.map(({ name, message }) => `\nNOT RUN  ${name}\n${firstLines(message ?? '')}`),
    ...failed.map(
      ({ fullName, failureMessages }) => `\nFAILED   ${fullName}\n${firstLines(failureMessages?.[0] ?? '')}`,
    ),
    ...skipped.map(({ fullName }) => `skipped  ${fullName}`),
  ];
  const isOk = broken.length === 0 && failed.length === 0 && tests.length > skipped.length;
  return { text: `${lines.join('\n')}\n`, ok: isOk };
}

function firstLines(text: string): string {
  return text.split('\n').slice(0, 8).join('\n').replace(/^/gm, '    ');
}
