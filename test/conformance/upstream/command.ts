import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { MissingPrerequisite } from '../go-build.ts';
import { formatResults, keepOutput, type Result, readBaseline, updatedBaseline } from './outcome.ts';
import { startCloud } from './simulated.ts';

export type Say = (line: string) => void;

/** Common command line options of third-party suites. */
export interface SuiteRun {
  /** requested services; default: all */
  readonly services: readonly string[];
  /** only tests whose name matches */
  readonly pattern: string;
  /** seconds per test */
  readonly timeout: number;
  /** values of the suite's own options */
  readonly options: Readonly<Record<string, string>>;
  readonly say: Say;
}

/** A third-party test suite for OpenStack clouds. */
export interface UpstreamSuite {
  readonly name: string;
  readonly services: readonly string[];
  /** file with the names of tests that pass on the real cloud */
  readonly baselineFile: string;
  /** additional options with values */
  readonly options?: Readonly<Record<string, { readonly default: string }>>;
  /** builds or installs the tests before a cloud is started; returns a function that runs them */
  prepare(run: SuiteRun): Promise<(cloudsYaml: string) => Promise<Result[]>>;
}

/** Runs the suite against the cloud of --clouds-yaml, or a `capstan cloud` started for it, and prints the results. */
export async function runSuite(suite: UpstreamSuite): Promise<void> {
  const say: Say = (line) => void process.stderr.write(`${suite.name}: ${line}\n`);
  try {
    process.exitCode = await main(suite, say);
  } catch (error) {
    say(error instanceof MissingPrerequisite ? error.message : String(error instanceof Error ? error.stack : error));
    process.exitCode = 2;
  }
}

async function main(suite: UpstreamSuite, say: Say): Promise<number> {
  const { values, own } = readOptions(suite);
  const unknown = values.service?.find((name) => !suite.services.includes(name));
  if (unknown !== undefined) {
    throw new MissingPrerequisite(`"${unknown}" is none of: ${suite.services.join(', ')}`);
  }
  const execute = await suite.prepare({
    services: suite.services.filter((service) => values.service?.includes(service) ?? true),
    pattern: values.testNamePattern,
    timeout: Number(values.timeout),
    options: own,
    say,
  });
  const given = values['clouds-yaml'];
  const simulated = given === undefined ? await startCloud() : undefined;
  let results: Result[];
  try {
    results = await execute(given ?? simulated!.cloudsYaml);
  } finally {
    await simulated?.stop();
  }
  if (values.output !== undefined) await keepOutput(values.output, results);
  let baseline = await readBaseline(suite.baselineFile);
  if (values['write-baseline']) {
    baseline = updatedBaseline(baseline, results);
    await writeFile(suite.baselineFile, `${JSON.stringify(baseline, null, 2)}\n`);
  }
  process.stdout.write(formatResults(results, baseline));
  return results.some(({ verdict }) => verdict === 'failed') ? 1 : 0;
}

const common = {
  service: { type: 'string', multiple: true },
  testNamePattern: { type: 'string', short: 't', default: '.' },
  'clouds-yaml': { type: 'string' },
  output: { type: 'string' },
  timeout: { type: 'string', default: '180' },
  'write-baseline': { type: 'boolean', default: false },
} as const;

type CommonValues = ReturnType<typeof parseArgs<{ options: typeof common }>>['values'];

function readOptions({ options = {} }: UpstreamSuite): { values: CommonValues; own: Record<string, string> } {
  const further = Object.fromEntries(
    Object.entries(options).map(([name, { default: fallback }]) => [
      name,
      { type: 'string' as const, default: fallback },
    ]),
  );
  const values = parseArgs({ options: { ...further, ...common } }).values as CommonValues & Record<string, unknown>;
  return { values, own: Object.fromEntries(Object.keys(options).map((name) => [name, String(values[name])])) };
}
