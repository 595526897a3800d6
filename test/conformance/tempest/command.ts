// Runs OpenStack's integration tests (tempest and its neutron plugin) against the simulated cloud or another one.
//
//   npm run conformance:tempest                          against a `capstan cloud` started for the tests
//   npm run conformance:tempest -- --service compute     only some services (may be repeated)
//   npm run conformance:tempest -- -t test_servers       only tests whose name matches
//   npm run conformance:tempest -- --clouds-yaml FILE    against a running cloud: entries `admin` and `openstack`
//   npm run conformance:tempest -- --workers 2           number of parallel processes
//   npm run conformance:tempest -- --output DIRECTORY    stores the output of every test
//   npm run conformance:tempest -- --clouds-yaml FILE --write-baseline    records the passing tests as the baseline
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type PythonSuite, runPythonTests } from '../python/tests.ts';
import { findOrMakeVirtualenv } from '../python/virtualenv.ts';
import { runSuite } from '../upstream/command.ts';
import { findContent } from '../upstream/content.ts';
import { renderSettings, tempestSettings } from './settings.ts';

/** Scenario tests are excluded, because they log in to servers. */
const suites: readonly PythonSuite[] = [
  { service: 'compute', packages: ['tempest.api.compute'] },
  { service: 'network', packages: ['tempest.api.network'] },
  { service: 'volume', packages: ['tempest.api.volume'] },
  { service: 'image', packages: ['tempest.api.image'] },
  { service: 'identity', packages: ['tempest.api.identity'] },
  { service: 'neutron-plugin', packages: ['neutron_tempest_plugin.api'] },
];

await runSuite({
  name: 'tempest',
  services: suites.map(({ service }) => service),
  baselineFile: fileURLToPath(new URL('./passes-on-zed.json', import.meta.url)),
  options: { workers: { default: '1' } },
  async prepare(run) {
    const python = await findOrMakeVirtualenv(run.say);
    return async (cloudsYaml) => {
      const cwd = await mkdtemp(join(tmpdir(), 'capstan-tempest-'));
      try {
        await writeFile(
          join(cwd, 'tempest.conf'),
          renderSettings(await tempestSettings(await findContent(cloudsYaml), cwd)),
        );
        return await runPythonTests({
          ...run,
          python,
          suites: suites.filter(({ service }) => run.services.includes(service)),
          env: {
            PATH: process.env['PATH'] ?? '',
            HOME: cwd,
            TEMPEST_CONFIG_DIR: cwd,
            TEMPEST_CONFIG: 'tempest.conf',
            OS_TEST_TIMEOUT: String(run.timeout),
          },
          cwd,
          workers: Number(run.options['workers']),
        });
      } finally {
        await rm(cwd, { recursive: true, force: true });
      }
    };
  },
});
