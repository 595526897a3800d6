import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCloudApart } from '../../support/capstan.ts';
import { type CloudInventory, type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { capstan } from '../../support/command.ts';
import { type ControllerProcess, startController } from '../../support/controller-process.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectl, kubectlApply, kubectlOn, missingKubectl } from '../../support/kubectl.ts';
import { freePorts } from '../../support/ports.ts';

// The controllers on another Kubernetes, with only the rights of their service account. CAPSTAN_REAL_KUBECONFIG is a
// kubeconfig with cluster-admin rights, without Cluster API installed.
const kubeconfig = process.env['CAPSTAN_REAL_KUBECONFIG'] ?? '';
const missing = kubeconfig === '' ? 'needs CAPSTAN_REAL_KUBECONFIG' : await missingKubectl();

const patienceMs = 120_000;
/** timeout of a whole test, which covers its longest waits in sequence */
const testPatienceMs = 300_000;
const newVersion = 'v1.34.2';

describe.skipIf(missing !== undefined)(
  `a cluster on machines, managed by a real Kubernetes${missing ? ` (${missing})` : ''}`,
  { timeout: testPatienceMs },
  () => {
    let directory: string;
    let cloudProcess: { stop(): Promise<void> };
    let cloud: CloudView;
    let before: CloudInventory;
    let first: ControllerProcess;
    let second: ControllerProcess;
    let run: (...args: string[]) => Promise<string>;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'capstan-real-'));
      run = kubectlOn(kubeconfig, directory);
      cloudProcess = await startCloudApart(directory);
      const cloudsYaml = join(directory, 'clouds.yaml');
      const url = (await readFile(cloudsYaml, 'utf8')).match(/auth_url: (\S+)\/identity\/v3/)?.[1] ?? '';
      cloud = await viewCloud({
        cloudsYaml,
        url,
        adminToken: await readFile(join(directory, 'cloud', 'admin-token'), 'utf8'),
      });
      await cloud.operate('PATCH', '/timings', { timeScale: 0.05 });
      before = await cloud.inventory();
      const [port] = await freePorts(2);
      first = await startController({ kubeconfig, port: port! });
      await run('create', 'secret', 'generic', 'simulated-cloud', `--from-file=clouds.yaml=${cloudsYaml}`);
    }, 300_000);

    afterAll(async () => {
      await first?.process.stop('SIGKILL');
      await second?.process.stop();
      await kubectl(['delete', 'secret', 'simulated-cloud', '--ignore-not-found'], { kubeconfig, directory });
      await cloud?.close();
      await cloudProcess?.stop();
      const outcome = await capstan(['uninstall', '--kubeconfig', kubeconfig, '--yes', '--include-crd']);
      await rm(directory, { recursive: true, force: true });
      expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
    }, 300_000);

    const workload = async (...args: string[]): Promise<string> => {
      const file = join(directory, 'workload.kubeconfig');
      const encoded = await run('get', 'secret', 'vm-cluster-kubeconfig', '-o', 'jsonpath={.data.value}');
      await writeFile(file, Buffer.from(encoded, 'base64'), { mode: 0o600 });
      return await kubectlOn(file, directory)(...args);
    };
    /** waits for this number of nodes, all Ready and of one version */
    const readyNodes = (count: number, version: string): Promise<void> =>
      eventually(async () => {
        const lines = (await workload('get', 'nodes', '--no-headers')).trimEnd().split('\n');
        const ready = lines.filter((line) => / Ready /.test(line) && line.endsWith(version));
        expect([lines.length, ready.length], lines.join('\n')).toEqual([count, count]);
      }, patienceMs);

    it('is ready when all caches have synced', async () => {
      expect(await first.readiness()).toEqual({ code: 200, body: 'ok' });
    });

    it('serves every kind in all of its versions, structural and established', async () => {
      const crds = JSON.parse(await run('get', 'crds', '-l', 'app.kubernetes.io/part-of=capstan', '-o', 'json')) as {
        items: { metadata: { name: string }; status: { conditions: { type: string; status: string }[] } }[];
      };
      expect(crds.items.length).toBeGreaterThan(30);
      for (const { metadata, status } of crds.items) {
        const conditions = Object.fromEntries(status.conditions.map(({ type, status: is }) => [type, is]));
        expect(conditions, metadata.name).toMatchObject({ Established: 'True', NamesAccepted: 'True' });
        expect(conditions, metadata.name).not.toHaveProperty('NonStructuralSchema');
      }
    });

    it('becomes Ready with its nodes', async () => {
      await run('apply', '--server-side', '-f', 'examples/vm-cluster');
      await eventually(async () => void (await workload('version')), patienceMs);
      await readyNodes(3, 'v1.33.6');
      await run('wait', 'cluster/vm-cluster', '--for=condition=Available', '--timeout=120s');
    });

    it('is left alone once it is Ready: no writes but those of the lease', async () => {
      const rest = async (): Promise<[Record<string, number>, number]> => {
        const { GET: _, PUT = 0, ...writes } = await first.requests();
        return [writes, PUT];
      };
      await eventually(async () => {
        const [writes, renewals] = await rest();
        let now = await rest();
        await eventually(async () => {
          now = await rest();
          expect(now[1]).toBeGreaterThan(renewals + 9);
        });
        expect(now[0]).toEqual(writes);
      }, patienceMs);
    });

    it('is defaulted, validated and converted by the webhooks', async () => {
      const plane = 'kcp/vm-cluster-control-plane';
      expect(await run('get', plane, '-o', 'jsonpath={.spec.rollout.strategy.type}')).toBe('RollingUpdate');
      const refused = await kubectl(['scale', plane, '--replicas=2'], { kubeconfig, directory });
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain('cannot be an even number when etcd is stacked');
      const skipped = await kubectl(['patch', plane, '--type=merge', '-p', '{"spec":{"version":"v1.36.0"}}'], {
        kubeconfig,
        directory,
      });
      expect(skipped.stderr).toContain('minor versions cannot be skipped');
      const old = 'kubeadmcontrolplanes.v1beta1.controlplane.cluster.x-k8s.io/vm-cluster-control-plane';
      expect(await run('get', old, '-o', 'jsonpath={.spec.machineTemplate.infrastructureRef.kind}')).toBe(
        'OpenStackMachineTemplate',
      );
      // A write in the old version must not lose fields of the new one.
      const spec = await run('get', plane, '-o', 'jsonpath={.spec}');
      await run('label', old, 'touched=yes');
      expect(JSON.parse(await run('get', plane, '-o', 'jsonpath={.spec}'))).toEqual(JSON.parse(spec));
    });

    it('scales its control plane and workers', async () => {
      await run('scale', 'machinedeployment/vm-cluster-md-0', '--replicas=3');
      await readyNodes(4, 'v1.33.6');
    });

    it('continues under another instance when the leader dies', async () => {
      const [port] = await freePorts(2);
      second = await startController({ kubeconfig, port: port! });
      expect(await second.readiness()).toEqual({ code: 200, body: 'ok' });
      await first.process.stop('SIGKILL');
      await run('scale', 'machinedeployment/vm-cluster-md-0', '--replicas=1');
      await readyNodes(2, 'v1.33.6');
    });

    it('upgrades its control plane and its workers', async () => {
      for (const name of ['vm-cluster-control-plane', 'vm-cluster-md-0']) {
        const found = JSON.parse(await run('get', 'openstackmachinetemplate', name, '-o', 'json'));
        const template = {
          apiVersion: found.apiVersion,
          kind: found.kind,
          metadata: { name: `${name}-new`, namespace: 'default' },
          spec: found.spec,
        };
        template.spec.template.spec.image = { filter: { name: `ubuntu-capi-image-${newVersion}` } };
        await kubectlApply(kubeconfig, directory, JSON.stringify(template));
      }
      const plane = {
        version: newVersion,
        machineTemplate: { spec: { infrastructureRef: { name: 'vm-cluster-control-plane-new' } } },
      };
      await run('patch', 'kcp/vm-cluster-control-plane', '--type=merge', '-p', JSON.stringify({ spec: plane }));
      const condition = `jsonpath={.status.version}=${newVersion}`;
      await run('wait', 'kcp/vm-cluster-control-plane', `--for=${condition}`, '--timeout=180s');
      const workers = {
        template: { spec: { version: newVersion, infrastructureRef: { name: 'vm-cluster-md-0-new' } } },
      };
      await run('patch', 'machinedeployment/vm-cluster-md-0', '--type=merge', '-p', JSON.stringify({ spec: workers }));
      await readyNodes(2, newVersion);
    });

    it('is deleted to the last resource and keeps what others brought', async () => {
      await run('delete', 'cluster', 'vm-cluster', '--timeout=180s');
      expect(await cloud.inventory()).toEqual(before);
      // The garbage collector deletes templates with their cluster.
      await eventually(async () => {
        const left = (await run('get', 'cluster-api', '--all-namespaces', '-o', 'name')).trimEnd().split('\n');
        expect(left.filter((name) => !name.startsWith('provider.clusterctl.'))).toEqual([]);
      }, patienceMs);
      expect(await run('get', 'secrets', '-l', 'cluster.x-k8s.io/cluster-name=vm-cluster', '-o', 'name')).toBe('');
    });

    it('was managed without a missing permission', () => {
      for (const { process } of [first, second]) expect(process.stderr()).not.toMatch(/forbidden/i);
    });

    it('leaves no webhook configuration behind and releases the lease', async () => {
      const { code } = await second.process.stop('SIGINT');
      expect(code).toBe(0);
      expect(
        await run('get', 'mutatingwebhookconfigurations,validatingwebhookconfigurations', '-o', 'name'),
      ).not.toContain('capstan');
      expect(
        await run(
          'get',
          'lease',
          'capstan-controllers',
          '-n',
          'capstan-system',
          '-o',
          'jsonpath={.spec.holderIdentity}',
        ),
      ).toBe('');
    });
  },
);
