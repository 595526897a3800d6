import assert from 'node:assert/strict';
import { join } from 'node:path';
import { capstanOk } from '../../support/command.ts';
import { planeVersions } from '../programs.ts';
import { families } from './families.ts';
import type { StoryOptions } from './index.ts';
import { deployment, importImage, namespace, nothingLeft, openCloudForPods } from './installation.ts';
import { expectKept, expectWorks, openStage, type Stage, until } from './stage.ts';

const pods = ['pods', '-n', namespace, '-l', 'app.kubernetes.io/component=controllers'];

/** Runs the image with the objects of `capstan install`, as Pods in the Kubernetes it manages. */
export async function playInstalled({ directory, kubeconfig, containerd, say }: StoryOptions): Promise<void> {
  const stage = openStage({ directory, kubeconfig, backups: '', say });
  const step = (what: string, action: () => Promise<void>): Promise<void> => stage.step(`installed: ${what}`, action);
  const { hosted } = families;
  assert.ok(hosted);
  const cloud = await openCloudForPods(stage, join(directory, 'openstack-for-pods'));
  try {
    await step('the archive of the image is imported', () => importImage(directory, containerd));
    await step('two replicas are ready', async () => {
      await capstanOk(['install', '--kubeconfig', kubeconfig]);
      await stage.kubectl('-n', namespace, 'rollout', 'status', deployment, '--timeout=300s');
    });
    await step('a HostedControlPlane works', async () => {
      await until(async () => stage.apply(await hosted.objects(planeVersions[1])));
      await stage.kubectl('wait', hosted.plane, `--for=condition=${hosted.works}`, '--timeout=600s');
    });
    const workload = await stage.workload(hosted.name);
    await step('kubectl through its own kubeconfig writes and reads', () => expectWorks(workload, 'installed'));
    await step('the leading Pod is killed, and another continues', () => loseLeader(stage));
    await step('installing again changes nothing, more replicas roll out', async () => {
      const again = await capstanOk(['install', '--kubeconfig', kubeconfig]);
      const changed = again.split('\n').filter((line) => line !== '' && !line.endsWith('unchanged'));
      assert.deepEqual(changed, []);
      await capstanOk(['install', '--kubeconfig', kubeconfig, '--replicas', '3']);
      await stage.kubectl('-n', namespace, 'rollout', 'status', deployment, '--timeout=300s');
    });
    await expectKept(workload, 'installed');
    await step('the cluster and the installation go without leftovers', async () => {
      await stage.kubectl('delete', `cluster/${hosted.name}`, '--timeout=600s');
      await capstanOk(['uninstall', '--kubeconfig', kubeconfig, '--yes', '--include-crd']);
      await nothingLeft(stage);
    });
  } catch (error) {
    say(await stage.kubectl('-n', namespace, 'logs', deployment, '--tail=40').catch(String));
    throw error;
  } finally {
    await cloud.stop();
  }
}

/** Deletes the leader, and checks that another Pod takes the lease and works. */
async function loseLeader({ kubectl, value }: Stage): Promise<void> {
  const holder = (): Promise<string> => value('lease/capstan-controllers', '.spec.holderIdentity', namespace);
  const before = await holder();
  const names = (await kubectl('get', ...pods, '-o', 'name')).trim().split('\n');
  const leader = names.find((name) => before.startsWith(name.replace('pod/', '')));
  assert.ok(leader, `none of ${names.join(', ')} is ${before}`);
  await kubectl('delete', '-n', namespace, leader, '--grace-period=0', '--force');
  await until(async () => {
    const after = await holder();
    assert.notEqual(after, before);
    assert.notEqual(after, '');
  });
  await kubectl('label', 'cluster/hosted', 'touched=yes', '--overwrite');
  await kubectl('-n', namespace, 'rollout', 'status', deployment, '--timeout=300s');
}
