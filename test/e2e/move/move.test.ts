import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCapstan, startCloudApart } from '../../support/capstan.ts';
import { type CloudInventory, type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { capstan } from '../../support/command.ts';
import { startController } from '../../support/controller-process.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectlOn, missingKubectl } from '../../support/kubectl.ts';
import { freePorts } from '../../support/ports.ts';
import { startProcess } from '../../support/process.ts';
import { capstanProgram } from '../../support/program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const patienceMs = 180_000;
const realKubeconfig = process.env['CAPSTAN_REAL_KUBECONFIG'] ?? '';
const noKubectl = await missingKubectl();

/** A management API with running controllers. */
interface Side {
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

async function embedded(): Promise<Side> {
  const { kubeconfig, stop } = await startCapstan({ controllers: 'all' });
  return { kubeconfig, stop };
}

async function real(): Promise<Side> {
  const [port = 0] = await freePorts(2);
  const { process: child } = await startController({ kubeconfig: realKubeconfig, port });
  return {
    kubeconfig: realKubeconfig,
    async stop() {
      await child.stop();
      await capstan(['uninstall', '--kubeconfig', realKubeconfig, '--yes', '--include-crd']);
    },
  };
}

describe.each([
  { title: 'another embedded API', start: embedded, missing: noKubectl },
  {
    title: 'a real Kubernetes',
    start: real,
    missing: realKubeconfig === '' ? 'needs CAPSTAN_REAL_KUBECONFIG' : noKubectl,
  },
])('a cluster moves to $title and back ($missing)', ({ start, missing }) => {
  describe.skipIf(missing !== undefined)('with the same machines', { timeout: 2 * patienceMs }, () => {
    let directory: string;
    let cloudProcess: { stop(): Promise<void> };
    let cloud: CloudView;
    let empty: CloudInventory;
    let here: Side;
    let there: Side;
    let onHere: (...args: string[]) => Promise<string>;
    let onThere: (...args: string[]) => Promise<string>;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'capstan-move-'));
      cloudProcess = await startCloudApart(directory);
      const cloudsYaml = join(directory, 'clouds.yaml');
      const url = (await readFile(cloudsYaml, 'utf8')).match(/auth_url: (\S+)\/identity\/v3/)?.[1] ?? '';
      const adminToken = await readFile(join(directory, 'cloud', 'admin-token'), 'utf8');
      cloud = await viewCloud({ cloudsYaml, url, adminToken });
      await cloud.operate('PATCH', '/timings', { timeScale: 0.05 });
      empty = await cloud.inventory();
      [here, there] = await Promise.all([embedded(), start()]);
      onHere = kubectlOn(here.kubeconfig, directory);
      onThere = kubectlOn(there.kubeconfig, directory);
      await onHere('create', 'secret', 'generic', 'simulated-cloud', `--from-file=clouds.yaml=${cloudsYaml}`);
      await onHere('apply', '--server-side', '-f', 'examples/vm-cluster');
      await onHere('wait', 'cluster/vm-cluster', '--for=condition=Available', `--timeout=${patienceMs / 1000}s`);
    }, 3 * patienceMs);

    afterAll(async () => {
      await Promise.all([here?.stop(), there?.stop()]);
      await cloud?.close();
      await cloudProcess?.stop();
      await rm(directory, { recursive: true, force: true });
    }, patienceMs);

    const move = (from: Side, to: Side, ...more: string[]): string[] => [
      'move',
      ...['--kubeconfig', from.kubeconfig, '--to-kubeconfig', to.kubeconfig, '-n', 'default'],
      ...more,
    ];
    const serverIds = async (): Promise<string[]> => {
      const ids: string[] = [];
      for await (const { id } of cloud.openstack.compute.servers.list()) ids.push(id);
      return ids.sort();
    };
    const clusterObjects = 'clusters,machines,machinesets,openstackclusters,openstackmachines,openstackservers';
    const readyNodes = (run: (...args: string[]) => Promise<string>, count: number): Promise<void> =>
      eventually(async () => {
        const file = join(directory, 'workload.kubeconfig');
        const encoded = await run('get', 'secret', 'vm-cluster-kubeconfig', '-o', 'jsonpath={.data.value}');
        await writeFile(file, Buffer.from(encoded, 'base64'), { mode: 0o600 });
        const nodes = (await kubectlOn(file, directory)('get', 'nodes', '--no-headers')).trimEnd().split('\n');
        expect(nodes.filter((line) => / Ready /.test(line))).toHaveLength(count);
      }, patienceMs);

    it('is only listed and not moved by a dry run', async () => {
      const outcome = await capstan(move(here, there, '--dry-run'));
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
      expect(outcome.stdout).toContain('Cluster default/vm-cluster would be moved');
      expect(outcome.stdout).toContain('Secret default/simulated-cloud would be copied');
      expect(await onThere('get', clusterObjects, '-o', 'name')).toBe('');
    });

    it('is moved, even if the command is killed in the middle', async () => {
      const before = await serverIds();
      const begin = () =>
        startProcess(process.execPath, [...capstanProgram(), ...move(here, there)], {
          cwd: root,
          env: { ...(process.env as Record<string, string>) },
        });
      const interrupted = begin();
      await eventually(async () => expect(interrupted.stderr()).toContain('pausing the source'));
      await interrupted.stop('SIGINT');
      expect(interrupted.stderr()).toContain('run the same command again to continue, or with --cancel');
      const killed = begin();
      await eventually(async () => expect(killed.stderr()).toContain('copied'));
      await killed.stop('SIGKILL');
      const outcome = await capstan(move(here, there));
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
      expect(await onHere('get', clusterObjects, '-o', 'name')).toBe('');
      await onThere('wait', 'cluster/vm-cluster', '--for=condition=Available', `--timeout=${patienceMs / 1000}s`);
      expect(await serverIds()).toEqual(before);
    });

    it('is scaled in its new place', async () => {
      await onThere('scale', 'machinedeployment/vm-cluster-md-0', '--replicas=3');
      await readyNodes(onThere, 4);
    });

    it('is moved back and deleted to the last cloud resource', async () => {
      const before = await serverIds();
      await eventually(async () => {
        const outcome = await capstan(move(there, here));
        expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
      }, patienceMs);
      await onHere('wait', 'cluster/vm-cluster', '--for=condition=Available', `--timeout=${patienceMs / 1000}s`);
      expect(await serverIds()).toEqual(before);
      await onHere('delete', 'cluster/vm-cluster', `--timeout=${patienceMs / 1000}s`);
      expect(await cloud.inventory()).toEqual(empty);
    });
  });
});
