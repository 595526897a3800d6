import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCloudApart } from '../../support/capstan.ts';
import { type CloudInventory, type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { capstan, capstanOk } from '../../support/command.ts';
import { type ControllerProcess, startController } from '../../support/controller-process.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectl, kubectlApply, kubectlOn, missingKubectl } from '../../support/kubectl.ts';
import { freePorts } from '../../support/ports.ts';
import { startProcess } from '../../support/process.ts';
import { capstanProgram } from '../../support/program.ts';
import { lookAsUpstream, removeUpstream } from './upstream-look.ts';

// Adopts clusters of upstream's controllers on another Kubernetes. CAPSTAN_REAL_KUBECONFIG is a kubeconfig with
// cluster-admin rights, without Cluster API installed.
const kubeconfig = process.env['CAPSTAN_REAL_KUBECONFIG'] ?? '';
const missing = kubeconfig === '' ? 'needs CAPSTAN_REAL_KUBECONFIG' : await missingKubectl();
const root = fileURLToPath(new URL('../../../', import.meta.url));
const patienceMs = 240_000;
const stored = 'openstackclusters.infrastructure.cluster.x-k8s.io';

describe.skipIf(missing !== undefined)(
  `clusters of upstream, taken over on a real Kubernetes${missing ? ` (${missing})` : ''}`,
  { timeout: 600_000 },
  () => {
    let directory: string;
    let cloudProcess: { stop(): Promise<void> };
    let cloud: CloudView;
    let before: CloudInventory;
    let controller: ControllerProcess | undefined;
    let definitions: string[] = [];
    let machines: string;
    let run: (...args: string[]) => Promise<string>;

    const start = async (): Promise<void> => {
      const [port] = await freePorts(2);
      controller = await startController({ kubeconfig, port: port! });
    };
    const stop = async (): Promise<void> => {
      await controller?.process.stop();
      controller = undefined;
    };
    const adopt = (...args: string[]): Promise<string> => capstanOk(['adopt', '--kubeconfig', kubeconfig, ...args]);
    const uids = (): Promise<string> =>
      run('get', 'machines', '-o', 'jsonpath={range .items[*]}{.metadata.name} {.metadata.uid}{"\\n"}{end}');
    const storedVersions = (): Promise<string> => run('get', 'crd', stored, '-o', 'jsonpath={.status.storedVersions}');
    const isAvailable = (): Promise<string> =>
      run('wait', 'cluster/vm-cluster', '--for=condition=Available', `--timeout=${patienceMs / 1000}s`);
    /** number of mutating requests to the cloud, without tokens */
    const changes = async (): Promise<number> => {
      const counts = (await cloud.operate('GET', '/requests')) as Record<string, Record<string, number>>;
      return Object.entries(counts)
        .filter(([service]) => service !== 'identity')
        .flatMap(([, methods]) => Object.entries(methods))
        .filter(([method]) => method !== 'GET' && method !== 'HEAD')
        .reduce((sum, [, count]) => sum + count, 0);
    };

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'capstan-adopt-'));
      run = kubectlOn(kubeconfig, directory);
      cloudProcess = await startCloudApart(directory);
      const cloudsYaml = join(directory, 'clouds.yaml');
      const url = (await readFile(cloudsYaml, 'utf8')).match(/auth_url: (\S+)\/identity\/v3/)?.[1] ?? '';
      const adminToken = await readFile(join(directory, 'cloud', 'admin-token'), 'utf8');
      cloud = await viewCloud({ cloudsYaml, url, adminToken });
      await cloud.operate('PATCH', '/timings', { timeScale: 0.05 });
      before = await cloud.inventory();
      await start();
      await run('create', 'secret', 'generic', 'simulated-cloud', `--from-file=clouds.yaml=${cloudsYaml}`);
      await run('apply', '--server-side', '-f', 'examples/vm-cluster');
      await isAvailable();
      await stop();
      const apply = (manifest: object) => kubectlApply(kubeconfig, directory, JSON.stringify(manifest));
      definitions = await lookAsUpstream(run, apply, cloud);
      machines = await uids();
    }, 600_000);

    afterAll(async () => {
      await controller?.process.stop('SIGKILL');
      await capstan(['adopt', '--kubeconfig', kubeconfig, '--release', '--yes']);
      await kubectl(['delete', 'secret', 'simulated-cloud', '--ignore-not-found'], { kubeconfig, directory });
      await removeUpstream(run, definitions);
      await cloud?.close();
      await cloudProcess?.stop();
      await rm(directory, { recursive: true, force: true });
    }, 600_000);

    it('makes capstan install refuse and point to capstan adopt', async () => {
      const outcome = await capstan(['install', '--kubeconfig', kubeconfig]);
      expect(outcome.code).toBe(1);
      expect(outcome.stderr).toContain('capstan adopt');
    });

    it('reports what would be done and that no machine is replaced', async () => {
      const plan = JSON.parse(await adopt('--dry-run', '-o', 'json')) as Record<string, unknown>;
      expect(plan).toMatchObject({
        machinesRolled: 0,
        obstacles: [],
        managers: [{ name: 'capi-controller-manager' }, {}],
      });
      expect(await uids()).toBe(machines);
    });

    it('continues where it was killed, touches nothing in the cloud and replaces no machine', async () => {
      await cloud.operate('DELETE', '/requests');
      const args = ['adopt', '--kubeconfig', kubeconfig, '--no-controllers', '--yes'];
      const first = startProcess(process.execPath, [...capstanProgram(), ...args], {
        cwd: root,
        env: { ...(process.env as Record<string, string>), NO_COLOR: '1' },
      });
      await eventually(async () => {
        const path = 'jsonpath={.items[*].spec.replicas}';
        expect(await run('get', 'deployments', '-n', 'capo-system', '-o', path)).toBe('0');
      }, patienceMs);
      await first.stop('SIGKILL');
      await adopt('--no-controllers', '--yes');
      expect(await run('get', 'deployments', '-n', 'capi-system', '-o', 'jsonpath={.items[*].spec.replicas}')).toBe(
        '0',
      );
      await start();
      await run('annotate', 'cluster/vm-cluster', 'adopted=true');
      await isAvailable();
      await eventually(async () => {
        const begun = '{.metadata.annotations.infrastructure\\.cluster\\.x-k8s\\.io/begun-by}';
        const path = `jsonpath=${begun}`;
        expect(await run('get', 'openstackcluster', 'vm-cluster', '-o', path)).toBe('cluster-api-provider-openstack');
      }, patienceMs);
      expect(await uids()).toBe(machines);
      expect(await changes()).toBe(0);
    });

    it('stores all objects in the current version', async () => {
      // An older storage version with a stored object, as after an upgrade.
      const crd = JSON.parse(await run('get', 'crd', stored, '-o', 'json')) as {
        spec: { versions: { name: string }[] };
      };
      const flags = crd.spec.versions.map(({ name }, index) => ({
        op: 'replace',
        path: `/spec/versions/${index}/storage`,
        value: name === 'v1beta1',
      }));
      await run('patch', 'crd', stored, '--type=json', '-p', JSON.stringify(flags));
      await eventually(async () => {
        await run('annotate', 'openstackcluster/vm-cluster', '--overwrite', `test=${Date.now()}`);
        expect(await storedVersions()).toContain('v1beta1');
      }, patienceMs);
      await stop();
      await start();
      await eventually(async () => expect(await storedVersions()).toBe('["v1beta2"]'), patienceMs);
    });

    it('is handed back as it was and taken over again', async () => {
      await stop();
      await adopt('--release', '--yes');
      expect(await run('get', 'deployments', '-n', 'capi-system', '-o', 'jsonpath={.items[*].spec.replicas}')).toBe(
        '1',
      );
      const crd = await run('get', 'crd', stored, '-o', 'json');
      expect(crd).toContain('"cert-manager.io/inject-ca-from": "capi-system/capi-serving-cert"');
      expect(crd).not.toContain('app.kubernetes.io/part-of');
      const configuration = await run(
        'get',
        'validatingwebhookconfigurations',
        '-l',
        'cluster.x-k8s.io/provider',
        '-o',
        'json',
      );
      expect(configuration).toContain('validation.test.cluster-api.x-k8s.io');
      expect(await run('get', 'crds', '-l', 'app.kubernetes.io/part-of=capstan', '-o', 'name')).toBe('');
      await eventually(async () => {
        const outcome = await kubectl(['get', 'namespace', 'capstan-system'], { kubeconfig, directory });
        expect(outcome.stderr).toContain('not found');
      }, patienceMs);
      await adopt('--no-controllers', '--yes');
      await start();
      expect(await uids()).toBe(machines);
    });

    it("is deleted to the last resource, even those without Capstan's mark", async () => {
      await run('delete', 'cluster', 'vm-cluster', `--timeout=${patienceMs / 1000}s`);
      expect(await cloud.inventory()).toEqual(before);
      await stop();
    });
  },
);
