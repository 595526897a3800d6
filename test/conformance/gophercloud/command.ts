// gophercloud's own acceptance tests against the simulated cloud, or any other.
//
//   npm run conformance:gophercloud                          against a `capstan cloud` of its own
//   npm run conformance:gophercloud -- --service network     only some services (may be repeated)
//   npm run conformance:gophercloud -- -t TestServers        only tests whose name matches
//   npm run conformance:gophercloud -- --clouds-yaml FILE    against a cloud that runs already: clouds `admin` and `openstack`
//   npm run conformance:gophercloud -- --output DIRECTORY    keeps what every test printed
//   npm run conformance:gophercloud -- --clouds-yaml FILE --write-baseline    notes what passes there as what is expected
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startProcess } from '../../support/process.ts';
import { MissingPrerequisite } from '../go-build.ts';
import { buildPrograms } from './build.ts';
import { type Baseline, formatResults, type Result, reasonOf, verdictOf } from './outcome.ts';
import { startCloud } from './simulated.ts';
import { prepareStage, type Stage } from './stage.ts';
import { suites } from './suites.ts';

const say = (line: string): void => void process.stderr.write(`gophercloud: ${line}\n`);
const baselineFile = fileURLToPath(new URL('./passes-on-zed.json', import.meta.url));
const noAdministrator = 'must be a non-admin to run this test';

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      service: { type: 'string', multiple: true },
      testNamePattern: { type: 'string', short: 't', default: '.' },
      'clouds-yaml': { type: 'string' },
      output: { type: 'string' },
      timeout: { type: 'string', default: '180' },
      'write-baseline': { type: 'boolean', default: false },
    },
  });
  const unknown = values.service?.find((name) => !suites.some(({ service }) => service === name));
  if (unknown !== undefined) {
    throw new MissingPrerequisite(`"${unknown}" is none of: ${suites.map(({ service }) => service).join(', ')}`);
  }
  const chosen = suites.filter(({ service }) => values.service?.includes(service) ?? true);
  const programs = await buildPrograms(
    chosen.flatMap(({ packages }) => packages),
    say,
  );
  const simulated = values['clouds-yaml'] === undefined ? await startCloud() : undefined;
  const results: Result[] = [];
  try {
    const stage = await prepareStage(values['clouds-yaml'] ?? simulated!.cloudsYaml);
    try {
      for (const { service, packages } of chosen) {
        for (const name of packages) {
          const run = { service, name, program: programs.get(name)!, stage, timeout: Number(values.timeout) };
          results.push(...(await runPackage(run, values.testNamePattern)));
        }
      }
    } finally {
      await stage.clear();
    }
  } finally {
    await simulated?.stop();
  }
  if (values.output !== undefined) await keep(values.output, results);
  if (values['write-baseline']) await writeBaseline(results);
  process.stdout.write(formatResults(results, await readBaseline()));
  return results.some(({ verdict }) => verdict === 'failed') ? 1 : 0;
}

interface PackageRun {
  readonly service: string;
  readonly name: string;
  readonly program: string;
  readonly stage: Stage;
  /** seconds for each test */
  readonly timeout: number;
}

/** Each test in a process of its own: one that panics or never ends must not take the others with it. */
async function runPackage(run: PackageRun, pattern: string): Promise<Result[]> {
  const listed = await startProcess(run.program, ['-test.list', pattern], { env: run.stage.admin }).ended;
  const results: Result[] = [];
  for (const test of listed.stdout.split('\n').filter((line) => line.startsWith('Test'))) {
    let output = await runTest(run, test, run.stage.admin);
    if (output.includes(noAdministrator)) output = await runTest(run, test, run.stage.member);
    const verdict = verdictOf(test, output);
    say(`${verdict.padEnd(7)} ${run.name} ${test}${verdict === 'failed' ? `: ${reasonOf(output)}` : ''}`);
    results.push({ service: run.service, name: `${run.name} ${test}`, verdict, output });
  }
  return results;
}

async function runTest(run: PackageRun, test: string, env: Readonly<Record<string, string>>): Promise<string> {
  const args = ['-test.v', '-test.run', `^${test}$`, '-test.timeout', `${run.timeout}s`];
  const home = { HOME: tmpdir(), PATH: process.env['PATH'] ?? '' };
  const { stdout, stderr } = await startProcess(run.program, args, { env: { ...home, ...env }, cwd: tmpdir() }).ended;
  return stdout + stderr;
}

async function keep(directory: string, results: readonly Result[]): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  for (const { name, verdict, output } of results) {
    await writeFile(join(directory, `${verdict}-${name.replaceAll(/[/ ]/g, '_')}.txt`), output);
  }
}

async function readBaseline(): Promise<Baseline> {
  return JSON.parse(await readFile(baselineFile, 'utf8').catch(() => '{}')) as Baseline;
}

/** Services that were not run keep what was noted of them. */
async function writeBaseline(results: readonly Result[]): Promise<void> {
  const baseline: Record<string, readonly string[]> = { ...(await readBaseline()) };
  for (const { service } of suites) {
    const own = results.filter((result) => result.service === service);
    if (own.length === 0) continue;
    baseline[service] = own.filter(({ verdict }) => verdict === 'passed').map(({ name }) => name);
  }
  await writeFile(baselineFile, `${JSON.stringify(baseline, null, 2)}\n`);
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof MissingPrerequisite ? error.message : String(error instanceof Error ? error.stack : error));
  process.exitCode = 2;
}
