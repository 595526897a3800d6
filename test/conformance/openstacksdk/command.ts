// Runs openstacksdk's functional tests against the simulated cloud or another one.
//
//   npm run conformance:openstacksdk                          against a `capstan cloud` started for the tests
//   npm run conformance:openstacksdk -- --service network     only some services (may be repeated)
//   npm run conformance:openstacksdk -- -t test_server        only tests whose name matches
//   npm run conformance:openstacksdk -- --clouds-yaml FILE    against a running cloud: entries `admin` and `openstack`
//   npm run conformance:openstacksdk -- --output DIRECTORY    stores the output of every test
//   npm run conformance:openstacksdk -- --clouds-yaml FILE --write-baseline    records the passing tests as the baseline
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PythonSuite, runPythonTests } from '../python/tests.ts';
import { findOrMakeVirtualenv } from '../python/virtualenv.ts';
import { runSuite } from '../upstream/command.ts';
import { findContent } from '../upstream/content.ts';
import { prepareClouds } from './clouds.ts';

const below = (...names: string[]): string[] => names.map((name) => `openstack.tests.functional.${name}`);

/** `cloud` is the library's layer across services. Services missing in the simulated cloud are left out. */
const suites: readonly PythonSuite[] = [
  { service: 'compute', packages: below('compute') },
  { service: 'network', packages: below('network') },
  { service: 'volume', packages: below('block_storage') },
  { service: 'image', packages: below('image') },
  { service: 'load-balancer', packages: below('load_balancer') },
  { service: 'identity', packages: below('identity') },
  { service: 'placement', packages: below('placement') },
  { service: 'cloud', packages: below('cloud') },
];

await runSuite({
  name: 'openstacksdk',
  services: suites.map(({ service }) => service),
  baselineFile: fileURLToPath(new URL('./passes-on-zed.json', import.meta.url)),
  async prepare(run) {
    const python = await findOrMakeVirtualenv(run.say);
    return async (cloudsYaml) => {
      const cwd = await mkdtemp(join(tmpdir(), 'capstan-openstacksdk-'));
      const clouds = await prepareClouds(await findContent(cloudsYaml));
      try {
        const file = join(cwd, 'clouds.yaml');
        await writeFile(file, clouds.cloudsYaml, { mode: 0o600 });
        // Some tests upload this file as an image and expect to run in the library's source directory.
        await writeFile(join(cwd, 'CONTRIBUTING.rst'), 'Not an image\n');
        const timeout = String(run.timeout);
        return await runPythonTests({
          ...run,
          python,
          suites: suites.filter(({ service }) => run.services.includes(service)),
          env: {
            PATH: process.env['PATH'] ?? '',
            HOME: cwd,
            OS_CLIENT_CONFIG_FILE: file,
            OS_TEST_TIMEOUT: timeout,
            OPENSTACKSDK_FUNC_TEST_TIMEOUT: timeout,
          },
          cwd,
          // All tests share a project. In parallel they would count each other's resources.
          workers: 1,
        });
      } finally {
        await clouds.clear();
        await rm(cwd, { recursive: true, force: true });
      }
    };
  },
});
