// Runs gophercloud's acceptance tests against the simulated cloud or another one.
//
//   npm run conformance:gophercloud                          against a `capstan cloud` started for the tests
//   npm run conformance:gophercloud -- --service network     only some services (may be repeated)
//   npm run conformance:gophercloud -- -t TestServers        only tests whose name matches
//   npm run conformance:gophercloud -- --clouds-yaml FILE    against a running cloud: entries `admin` and `openstack`
//   npm run conformance:gophercloud -- --output DIRECTORY    stores the output of every test
//   npm run conformance:gophercloud -- --clouds-yaml FILE --write-baseline    records the passing tests as the baseline
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startProcess } from '../../support/process.ts';
import { runSuite, type SuiteRun } from '../upstream/command.ts';
import type { Result } from '../upstream/outcome.ts';
import { buildPrograms } from './build.ts';
import { reasonOf, verdictOf } from './go-output.ts';
import { prepareStage, type Stage } from './stage.ts';
import { leftOut, suites } from './suites.ts';

const noAdministrator = 'must be a non-admin to run this test';

interface PackageRun extends SuiteRun {
  readonly service: string;
  readonly name: string;
  readonly program: string;
  readonly stage: Stage;
}

/** Each test runs in its own process, so a panic or hang does not affect the others. */
async function runPackage(run: PackageRun): Promise<Result[]> {
  const listed = await startProcess(run.program, ['-test.list', run.pattern], { env: run.stage.admin }).ended;
  const results: Result[] = [];
  for (const test of listed.stdout.split('\n').filter((line) => line.startsWith('Test'))) {
    const reasonToSkip = leftOut.get(`${run.name} ${test}`);
    if (reasonToSkip !== undefined) {
      run.say(`left out ${run.name} ${test}: it ${reasonToSkip}`);
      continue;
    }
    let output = await runTest(run, test, run.stage.admin);
    if (output.includes(noAdministrator)) output = await runTest(run, test, run.stage.member);
    const verdict = verdictOf(test, output);
    const reason = reasonOf(output);
    run.say(`${verdict.padEnd(7)} ${run.name} ${test}${verdict === 'failed' ? `: ${reason}` : ''}`);
    results.push({ service: run.service, name: `${run.name} ${test}`, verdict, output, reason });
  }
  return results;
}

async function runTest(run: PackageRun, test: string, env: Readonly<Record<string, string>>): Promise<string> {
  const args = ['-test.v', '-test.run', `^${test}$`, '-test.timeout', `${run.timeout}s`];
  const home = { HOME: tmpdir(), PATH: process.env['PATH'] ?? '' };
  const { stdout, stderr } = await startProcess(run.program, args, { env: { ...home, ...env }, cwd: tmpdir() }).ended;
  return stdout + stderr;
}

await runSuite({
  name: 'gophercloud',
  services: suites.map(({ service }) => service),
  baselineFile: fileURLToPath(new URL('./passes-on-zed.json', import.meta.url)),
  async prepare(run) {
    const chosen = suites.filter(({ service }) => run.services.includes(service));
    const programs = await buildPrograms(
      chosen.flatMap(({ packages }) => packages),
      run.say,
    );
    return async (cloudsYaml) => {
      const stage = await prepareStage(cloudsYaml);
      const results: Result[] = [];
      try {
        for (const { service, packages } of chosen) {
          for (const name of packages) {
            results.push(...(await runPackage({ ...run, service, name, program: programs.get(name)!, stage })));
          }
        }
      } finally {
        await stage.clear();
      }
      return results;
    };
  },
});
