import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeOutcome, runProcess } from '../../support/process.ts';
import { command } from '../processes.ts';
import { planeVersions } from '../programs.ts';
import { families } from './families.ts';
import type { StoryOptions } from './index.ts';
import { deployment, importImage, namespace, nothingLeft, openCloudForPods, tagImage } from './installation.ts';
import { askOn, expectKept, expectWorks, openStage, type Stage, until } from './stage.ts';

const chart = fileURLToPath(new URL('../../../deploy/chart', import.meta.url));
const release = 'capstan';
const nextTag = 'next';

/** Runs the image with the Helm chart: restarted, upgraded without a pause of the webhooks, removed and installed again. */
export async function playChart({
  directory,
  kubeconfig,
  containerd,
  helm,
  crashNode,
  say,
}: StoryOptions): Promise<void> {
  const stage = openStage({ directory, kubeconfig, backups: '', say });
  const { kubectl } = stage;
  const step = (what: string, action: () => Promise<void>): Promise<void> => stage.step(`chart: ${what}`, action);
  const { hosted } = families;
  assert.ok(hosted);
  const run = await helmOn(helm, kubeconfig, join(directory, 'helm'));
  const rolledOut = async (): Promise<void> =>
    void (await kubectl('-n', namespace, 'rollout', 'status', deployment, '--timeout=300s'));
  const works = async (): Promise<void> =>
    void (await kubectl('wait', hosted.plane, `--for=condition=${hosted.works}`, '--timeout=600s'));
  const cloud = await openCloudForPods(stage, join(directory, 'openstack-for-the-chart'));
  try {
    await importImage(directory, containerd);
    await tagImage(containerd, nextTag);
    await step('two replicas are ready', async () => {
      await run('install', release, chart, '--create-namespace', '--wait', '--timeout=10m');
      await rolledOut();
    });
    await step('a HostedControlPlane works', async () => {
      await until(async () => stage.apply(await hosted.objects(planeVersions[1])));
      await works();
    });
    const workload = await stage.workload(hosted.name);
    await expectWorks(workload, 'chart');
    say(`chart: memory of the controllers: ${await residentMemory()}`);
    await step('all Pods are replaced, while the webhooks answer', () =>
      webhooksAnswer(stage, async () => {
        await kubectl('-n', namespace, 'rollout', 'restart', deployment);
        await rolledOut();
      }),
    );
    await step('upgraded to another tag, while the webhooks answer', () =>
      webhooksAnswer(stage, async () => {
        const kinds = ['--field-manager=capstan', '-f', join(chart, 'crds', 'kinds.yaml')];
        await kubectl('apply', '--server-side', '--force-conflicts', ...kinds);
        await run('upgrade', release, chart, '--wait', '--timeout=10m', '--set', `image.tag=${nextTag}`);
        await rolledOut();
      }),
    );
    const images = await stage.value(deployment, '.spec.template.spec.containers[*].image', namespace);
    assert.ok(images.endsWith(`:${nextTag}`), images);
    await step('three replicas share the clusters', () =>
      webhooksAnswer(stage, async () => {
        await run('upgrade', release, chart, '--wait', '--reuse-values', '--set', 'shares=true,replicas=3');
        await rolledOut();
        await until(async () => {
          const counted = String.raw`.items[*].metadata.annotations.shares\.capstan\.dev/clusters`;
          const shares = await kubectl(
            ...['get', 'leases', '-n', namespace, '-l', 'shares.capstan.dev/of', '-o', `jsonpath={${counted}}`],
          );
          assert.deepEqual(shares.split(' ').sort(), ['0', '0', '1']);
        });
      }),
    );
    await works();
    await step('the node loses its power, and everything works again', async () => {
      await crashNode();
      await rolledOut();
      await until(() => askWebhooks(stage));
      await expectKept(workload, 'chart');
      await works();
    });
    await step('removed while the cluster exists, which keeps running', async () => {
      await run('uninstall', release, '--wait', '--timeout=10m');
      // helm does not wait for the Pods of a Deployment.
      await until(async () => assert.deepEqual(await stage.names('pods', '-n', namespace), []));
      await expectKept(workload, 'chart');
    });
    await step('installed again, and the cluster goes to the last volume', async () => {
      await run('install', release, chart, '--wait', '--timeout=10m');
      await until(() => askWebhooks(stage));
      await kubectl('delete', `cluster/${hosted.name}`, '--timeout=600s');
      await until(async () => assert.deepEqual(await stage.names('pv'), []));
    });
    await step('removed without leftovers', async () => {
      await run('uninstall', release, '--wait', '--timeout=10m');
      await kubectl('delete', '-f', join(chart, 'crds', 'kinds.yaml'), '--timeout=300s');
      await kubectl('delete', 'namespace', namespace, '--timeout=300s');
      await nothingLeft(stage);
    });
  } catch (error) {
    say(await kubectl('-n', namespace, 'logs', deployment, '--tail=40').catch(String));
    throw error;
  } finally {
    await cloud.stop();
  }
}

/** helm with its files in a directory of its own. */
async function helmOn(helm: string, kubeconfig: string, home: string): Promise<(...args: string[]) => Promise<void>> {
  await mkdir(home, { recursive: true });
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  return async (...args) => {
    const outcome = await runProcess(helm, [...args, '--kubeconfig', kubeconfig, '--namespace', namespace], { env });
    if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
  };
}

/** Writes an object without a change, which asks both kinds of webhooks, and reads it in an old version. */
async function askWebhooks({ kubectl }: Stage): Promise<void> {
  await kubectl('label', 'cluster/hosted', 'asked=yes', '--overwrite', '--dry-run=server');
  await kubectl('get', 'clusters.v1beta1.cluster.x-k8s.io/hosted', '-o', 'name');
}

/** Performs an action, during which the webhooks answer every question. */
async function webhooksAnswer(stage: Stage, action: () => Promise<void>): Promise<void> {
  const questions = askOn(() => askWebhooks(stage));
  try {
    await action();
  } finally {
    const { asked, failures } = await questions.end();
    stage.say(`meanwhile the webhooks failed ${failures.length} of ${asked} times ${failures[0] ?? ''}`);
    assert.deepEqual(failures, []);
  }
}

/** Returns the resident memory of each process of the controllers. */
async function residentMemory(): Promise<string> {
  const rows = (await command('ps', '-eo', 'pid=,args=')).split('\n');
  const pids = rows.filter((row) => row.includes(' controller --webhook-port=')).map((row) => row.trim().split(' ')[0]);
  const sizes = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/status`, 'utf8')));
  return sizes.map((status) => `${Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)} MiB`).join(', ');
}
