import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { planeVersions } from '../programs.ts';
import type { PlaneFamily } from './families.ts';
import { askOn, expectKept, expectWorks, type Kubectl, type Stage, until } from './stage.ts';

const annotation = (key: string, value: string): string => `controlplane.cluster.x-k8s.io/${key}=${value}`;

/** Other objects in the namespaces of planes. */
const others = new Set(['configmap/kube-root-ca.crt', 'secret/simulated-cloud', 'service/kubernetes']);
const kindsOfPlanes =
  'pods,deployments,statefulsets,services,pvc,secrets,configmaps,poddisruptionbudgets,networkpolicies';

/** Runs the lifecycle of a plane as real Pods, from the first apply to the last volume. */
export async function playLife(stage: Stage, family: PlaneFamily): Promise<void> {
  const { kubectl } = stage;
  const { kind, name, plane } = family;
  const step = (what: string, action: () => Promise<void>): Promise<void> => stage.step(`${kind}: ${what}`, action);
  const works = async (): Promise<void> =>
    void (await kubectl('wait', plane, `--for=condition=${family.works}`, '--timeout=600s'));
  await step(`v${planeVersions[0]} is applied and works`, async () => {
    await stage.apply(await family.objects(planeVersions[0]));
    await works();
    const pods = await stage.names('pods');
    await kubectl('wait', ...pods, '--for=condition=Ready', '--timeout=60s');
  });
  const workload = await stage.workload(name);
  await step('kubectl through its own kubeconfig writes and reads', () => expectWorks(workload, 'first'));
  await step(`is upgraded to v${planeVersions[1]}`, async () => {
    const version = `v${planeVersions[1]}`;
    // with a new connection each time
    const questions = askOn(() => workload('get', 'configmap/first', '--request-timeout=5s'));
    await kubectl('patch', plane, '--type=merge', '-p', JSON.stringify({ spec: { version } }));
    await until(async () => {
      assert.equal(await stage.value(plane, '.status.version'), version);
      const { serverVersion } = JSON.parse(await workload('version', '-o', 'json')) as Version;
      assert.equal(serverVersion.gitVersion, version);
    });
    await works();
    const { asked, failures } = await questions.end();
    stage.say(`meanwhile ${failures.length} of ${asked} requests were not answered ${failures[0] ?? ''}`);
    await expectKept(workload, 'first');
  });
  await step('a member of etcd is lost with its volume, and replaced', () => loseMember(stage, family));
  await expectKept(workload, 'first');
  if (family.hasOwnEtcd) {
    await step('is backed up by schedule', () => backUp(stage, family));
    await step('goes back to the backup', async () => {
      await goBack(stage, family, workload);
      await works();
    });
    await expectKept(workload, 'first');
    await expectWorks(workload, 'after-the-restore');
  }
  await step('is deleted to the last Pod and volume', () => deleteAll(stage, family));
}

interface Version {
  readonly serverVersion: { readonly gitVersion: string };
}

async function loseMember({ kubectl, value }: Stage, { plane, works, etcd }: PlaneFamily): Promise<void> {
  const { namespace, selector } = etcd;
  const pods = (await kubectl('get', 'pods', '-n', namespace, '-l', selector, '-o', 'name')).trim().split('\n').sort();
  assert.equal(pods.length, 3);
  const member = pods[1] ?? '';
  const claimed = '.spec.volumes[?(@.persistentVolumeClaim)].persistentVolumeClaim.claimName';
  const claim = `pvc/${await value(member, claimed, namespace)}`;
  const before = await value(claim, '.metadata.uid', namespace);
  await kubectl('delete', '-n', namespace, claim, '--wait=false');
  await kubectl('delete', '-n', namespace, member, '--wait=false');
  const isTrue = async (what: string, condition: string, from?: string): Promise<void> =>
    assert.equal(await value(what, `.status.conditions[?(@.type=="${condition}")].status`, from), 'True');
  await until(async () => {
    assert.notEqual(await value(claim, '.metadata.uid', namespace), before);
    await isTrue(member, 'Ready', namespace);
    await isTrue(plane, works);
  });
}

async function backUp({ kubectl, backups }: Stage, { plane, name }: PlaneFamily): Promise<void> {
  await kubectl('annotate', plane, annotation('backup-schedule', '* * * * *'));
  await until(async () => {
    const made = await readdir(join(backups, 'default', name)).catch(() => []);
    assert.ok(made.some((file) => file.endsWith('.etcd')));
  });
  await kubectl('annotate', plane, annotation('backup-schedule', '@yearly'), '--overwrite');
}

async function goBack({ kubectl }: Stage, { plane }: PlaneFamily, workload: Kubectl): Promise<void> {
  await workload('create', 'configmap', 'after-the-backup');
  await kubectl('annotate', plane, annotation('restore', 'latest'));
  await until(async () => {
    assert.equal(await workload('get', 'configmap/after-the-backup', '--ignore-not-found', '-o', 'name'), '');
  });
}

async function deleteAll(stage: Stage, { name, etcd, shared }: PlaneFamily): Promise<void> {
  await stage.kubectl('delete', `cluster/${name}`, '--timeout=600s');
  if (shared !== undefined) await stage.kubectl('delete', shared, '--timeout=600s');
  await until(async () => {
    for (const namespace of new Set(['default', etcd.namespace])) {
      const left = await stage.names(kindsOfPlanes, '-n', namespace);
      assert.deepEqual(
        left.filter((one) => !others.has(one)),
        [],
      );
    }
    assert.deepEqual(await stage.names('pv'), []);
  });
}
