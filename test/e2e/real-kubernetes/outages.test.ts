import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findOrBuildPrograms } from '../../conformance/go-build.ts';
import { type RealKubernetes, startRealKubernetes } from '../../conformance/real-kubernetes.ts';
import { startCloudApart } from '../../support/capstan.ts';
import { type CloudInventory, type CloudView, viewCloud } from '../../support/cloud-view.ts';
import { type ControllerProcess, startController } from '../../support/controller-process.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectlApply, kubectlOn, missingKubectl } from '../../support/kubectl.ts';
import { freePorts } from '../../support/ports.ts';
import { realKubeconfigVariable } from '../../support/targets.ts';

// A management cluster whose etcd and kube-apiserver stop, hang and crash, and paused controller processes.
// It starts a Kubernetes of its own, from CAPSTAN_REAL_KUBERNETES_BIN or from the programs that
// `npm run e2e:real-kubernetes` has built.
const isWanted = ['CAPSTAN_REAL_KUBERNETES_BIN', realKubeconfigVariable].some((name) => process.env[name]);
const missing = isWanted
  ? await missingKubectl()
  : 'needs `npm run e2e:real-kubernetes` or CAPSTAN_REAL_KUBERNETES_BIN';
const patienceMs = 240_000;
/** Longer than any lease, so another process has taken over when the paused one resumes. */
const pauseMs = 60_000;
const namespace = 'team';

describe.skipIf(missing !== undefined)(
  `a management cluster that fails${missing ? ` (${missing})` : ''}`,
  { timeout: 600_000 },
  () => {
    let directory: string;
    let kubernetes: RealKubernetes;
    let cloudProcess: { stop(): Promise<void> };
    let cloud: CloudView;
    let before: CloudInventory;
    let run: (...args: string[]) => Promise<string>;
    const controllers: ControllerProcess[] = [];

    const begin = async (): Promise<ControllerProcess> => {
      const [port = 0] = await freePorts(2);
      const one = await startController({ kubeconfig: kubernetes.kubeconfig, port });
      controllers.push(one);
      return one;
    };
    const holder = (): Promise<string> =>
      run('get', 'lease', 'capstan-controllers', '-n', 'capstan-system', '-o', 'jsonpath={.spec.holderIdentity}');
    const isAvailable = (): Promise<string> =>
      run(
        'wait',
        'cluster/vm-cluster',
        '-n',
        namespace,
        '--for=condition=Available',
        `--timeout=${patienceMs / 1000}s`,
      );
    const serverNames = async (): Promise<string[]> =>
      (await cloud.inventory()).servers.filter((name) => name.startsWith('vm-cluster-'));

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'capstan-outages-'));
      kubernetes = await startRealKubernetes(await findOrBuildPrograms(process.env, () => {}));
      run = kubectlOn(kubernetes.kubeconfig, directory);
      cloudProcess = await startCloudApart(directory);
      const cloudsYaml = join(directory, 'clouds.yaml');
      const url = (await readFile(cloudsYaml, 'utf8')).match(/auth_url: (\S+)\/identity\/v3/)?.[1] ?? '';
      const adminToken = await readFile(join(directory, 'cloud', 'admin-token'), 'utf8');
      cloud = await viewCloud({ cloudsYaml, url, adminToken });
      before = await cloud.inventory();
      await begin();
      await run('create', 'namespace', namespace);
      await run(
        'create',
        'secret',
        'generic',
        'simulated-cloud',
        '-n',
        namespace,
        `--from-file=clouds.yaml=${cloudsYaml}`,
      );
    }, 600_000);

    afterAll(async () => {
      for (const { process } of controllers) await process.stop('SIGKILL');
      await cloud?.close();
      await cloudProcess?.stop();
      await kubernetes?.stop();
      await rm(directory, { recursive: true, force: true });
    }, 120_000);

    /** pauses a process and resumes it */
    const pause = async (pid: number, ms: number): Promise<void> => {
      process.kill(pid, 'SIGSTOP');
      await pass(ms);
      process.kill(pid, 'SIGCONT');
    };

    it('creates its cluster in spite of the failures', async () => {
      const manifest = await readFile('examples/vm-cluster/cluster.yaml', 'utf8');
      await kubectlApply(
        kubernetes.kubeconfig,
        directory,
        manifest.replaceAll('namespace: default', `namespace: ${namespace}`),
      );
      const outages = [
        () => kubernetes.crash('kube-apiserver'),
        () => pause(kubernetes.pids.etcd, 7_000),
        () => pause(kubernetes.pids['kube-apiserver'], 7_000),
        () => kubernetes.crash('etcd'),
        () => kubernetes.crash('kube-apiserver'),
      ];
      for (const outage of outages) {
        await pass(3_000);
        await outage();
      }
      await isAvailable();
      expect((await serverNames()).length).toBe(3);
      await eventually(
        async () => expect(await controllers[0]?.readiness()).toEqual({ code: 200, body: 'ok' }),
        patienceMs,
      );
    });

    it('has one owner of its clusters while a leader is paused and when it wakes up', async () => {
      const leader = await holder();
      await begin();
      const paused = pause(controllers[0]?.process.pid ?? 0, pauseMs);
      await run('scale', 'machinedeployment', '-n', namespace, '--all', '--replicas=3');
      await eventually(async () => expect(await holder()).not.toBe(leader), patienceMs);
      await eventually(async () => expect((await serverNames()).length).toBe(4), patienceMs);
      await paused;
      await isAvailable();
      await eventually(
        async () => expect(await controllers[0]?.readiness()).toEqual({ code: 200, body: 'ok' }),
        patienceMs,
      );
      expect(await holder()).not.toBe(leader);
      expect((await serverNames()).length).toBe(4);
    });

    it('deletes a namespace, and nothing stays in the cloud', async () => {
      await run('delete', 'namespace', namespace, `--timeout=${patienceMs / 1000}s`);
      expect(await cloud.inventory()).toEqual(before);
    });
  },
);
