import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../../src/machinery/index.ts';
import { type CloudInventory, type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { capstan } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectlOn, missingKubectl } from '../../support/kubectl.ts';
import { fillIn } from '../../support/placeholders.ts';
import { startProcess } from '../../support/process.ts';
import { capstanEnvironment, capstanProgram } from '../../support/program.ts';
import { type CloudProcess, startCloud } from '../openstack-command/cloud-process.ts';

const missing = await missingKubectl();
const patienceMs = 240_000;

describe.skipIf(missing !== undefined)(
  `capstan lattice${missing ? ` (${missing})` : ''}`,
  { timeout: 2 * patienceMs },
  () => {
    let directory: string;
    let cloudProcess: CloudProcess;
    let cloud: CloudView;
    let before: CloudInventory;
    let manifest: string;
    let env: Record<string, string>;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'capstan-lattice-'));
      cloudProcess = await startCloud();
      const { cloudsYaml, url } = cloudProcess;
      cloud = await viewCloud({ cloudsYaml, url, adminToken: await cloudProcess.adminToken() });
      await cloud.operate('PATCH', '/timings', { timeScale: 0.05 });
      before = await cloud.inventory();
      const network = must(await cloud.openstack.network.networks.find('public'), 'the external network');
      const template = await readFile(new URL('testdata/my-cluster.yaml', import.meta.url), 'utf8');
      manifest = join(directory, 'my-cluster.yaml');
      const text = fillIn(template, { EXTERNAL_NETWORK_ID: network.id })
        .replace('controlPlane: 3', 'controlPlane: 1')
        .replace('replicas: 5', 'replicas: 1');
      await writeFile(manifest, text);
      env = { XDG_DATA_HOME: join(directory, 'home') };
    }, patienceMs);
    afterAll(async () => {
      await cloud?.close();
      await cloudProcess?.stop();
      await rm(directory, { recursive: true, force: true });
    }, patienceMs);

    const kubeconfig = (): string => join(directory, 'out.kubeconfig');
    const install = (): string[] => [
      ...['lattice', 'install', '-f', manifest, '--clouds-yaml', cloudProcess.cloudsYaml],
      ...['--kubeconfig-out', kubeconfig(), '--timeout', '4m'],
    ];
    const started = async (): Promise<string[]> =>
      await readdir(join(directory, 'home', 'capstan', 'lattice')).catch(() => []);

    it('refuses a file without a LatticeCluster', async () => {
      const outcome = await capstan(['lattice', 'install', '-f', '-'], {
        env,
        input: 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n',
      });
      expect(outcome.code).toBe(2);
      expect(outcome.stderr).toContain('Pod is neither a LatticeCluster nor a Secret');
    });

    it('creates a cluster that manages itself, even if killed on the way', async () => {
      const first = startProcess(process.execPath, [...capstanProgram(), ...install()], capstanEnvironment(env));
      await eventually(async () => expect(first.stderr()).toContain('Provisioning'), patienceMs);
      await first.stop('SIGKILL');
      expect(await started()).toEqual(['my-cluster']);
      const outcome = await capstan(install(), { env });
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
      expect(outcome.stdout).toContain('LatticeCluster my-cluster manages itself');
      expect(await started()).toEqual([]);
      const inside = kubectlOn(kubeconfig(), directory);
      await eventually(async () => expect(await inside('get', 'lc', '--no-headers')).toMatch(/^my-cluster +Ready /));
      expect((await cloud.inventory()).servers).toHaveLength(2);
    });

    it('uninstalls the cluster and leaves nothing in the cloud', async () => {
      const refused = await capstan(['lattice', 'uninstall', '-k', kubeconfig(), 'other', '--yes'], { env });
      expect(refused.stderr).toContain('no LatticeCluster other that stands for itself');
      const uninstall = ['lattice', 'uninstall', '-k', kubeconfig(), '--yes', '--timeout', '4m'];
      const first = startProcess(process.execPath, [...capstanProgram(), ...uninstall], capstanEnvironment(env));
      const when = { service: 'network', method: 'DELETE', path: '/v2.0/routers*' };
      await cloud.operate('PUT', '/faults/router', { when, effect: { kind: 'status', status: 503, message: 'away' } });
      await eventually(async () => expect((await cloud.inventory()).servers).toHaveLength(0), patienceMs);
      await first.stop('SIGKILL');
      await cloud.operate('DELETE', '/faults/router');
      // The same command continues, although the cluster in the kubeconfig does not answer any more.
      const outcome = await capstan(uninstall, { env });
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
      expect(await cloud.inventory()).toEqual(before);
      expect(await started()).toEqual([]);
    });

    it('removes an installation that was stopped, without its kubeconfig', async () => {
      const first = startProcess(process.execPath, [...capstanProgram(), ...install()], capstanEnvironment(env));
      await eventually(async () => {
        expect((await cloud.inventory()).networks).not.toEqual(before.networks);
      }, patienceMs);
      // Scripts must not take an installation that was stopped for a finished one.
      expect(await first.stop('SIGINT')).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('run the same command again'),
      });
      const outcome = await capstan(['lattice', 'uninstall', 'my-cluster', '--yes', '--timeout', '4m'], { env });
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
      expect(await cloud.inventory()).toEqual(before);
    });
  },
);
