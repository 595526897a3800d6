import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject } from '../../../src/machinery/index.ts';
import { konnectivityTag, planeVersions } from '../programs.ts';
import { exampleObjects, expectKept, expectWorks, type Stage, until } from './stage.ts';

const name = 'hosted';
const plane = `hostedcontrolplane/${name}`;
const etcdPods = ['-l', `controlplane.cluster.x-k8s.io/plane=${name}`] as const;
const annotation = (key: string, value: string): string => `controlplane.cluster.x-k8s.io/${key}=${value}`;

/** examples/hosted-control-plane without workers, behind the address of a load balancer instead of a Gateway. */
async function objects(): Promise<KubeObject[]> {
  const all = await exampleObjects('hosted-control-plane', ['Cluster', 'OpenStackCluster', 'HostedControlPlane']);
  return all.map((object) =>
    object.kind === 'HostedControlPlane'
      ? ({
          ...object,
          spec: {
            version: `v${planeVersions[0]}`,
            replicas: 2,
            deployment: { apiServer: { konnectivity: { image: { tag: konnectivityTag } } } },
          },
        } as KubeObject)
      : object,
  );
}

/** A HostedControlPlane as real Pods, from the first apply to the last volume. */
export async function playHosted(stage: Stage): Promise<void> {
  const { kubectl, step } = stage;
  await step('HostedControlPlane: applied, and Available', async () => {
    await stage.apply(await objects());
    await kubectl('wait', plane, '--for=condition=Available', '--timeout=600s');
    const pods = await stage.names('pods', '-l', `cluster.x-k8s.io/cluster-name=${name}`);
    assert.equal(pods.length, 2);
    await kubectl('wait', ...pods, '--for=condition=Ready', '--timeout=60s');
  });
  let workload = await stage.workload(name);
  await step('kubectl through its own kubeconfig writes and reads', () => expectWorks(workload, 'first'));
  await step(`upgrade from v${planeVersions[0]} to v${planeVersions[1]}`, async () => {
    const version = `v${planeVersions[1]}`;
    await kubectl('patch', plane, '--type=merge', '-p', JSON.stringify({ spec: { version } }));
    await until(async () => assert.equal(await stage.value(plane, '.status.version'), version));
    await kubectl('wait', plane, '--for=condition=Available', '--timeout=600s');
    assert.match(await workload('version', '-o', 'json'), new RegExp(`"gitVersion": "${version}"`));
    await expectKept(workload, 'first');
  });
  await step('a member of etcd lost with its volume, and replaced', () => loseMember(stage));
  await expectKept(workload, 'first');
  await step('backup by schedule', async () => {
    await kubectl('annotate', plane, annotation('backup-schedule', '* * * * *'));
    await until(async () => {
      const made = await readdir(join(stage.backups, 'default', name)).catch(() => []);
      assert.ok(made.some((file) => file.endsWith('.etcd')));
    });
    await kubectl('annotate', plane, annotation('backup-schedule', '@yearly'), '--overwrite');
  });
  await step('restore: what came after the backup is gone, what was before is there', async () => {
    await workload('create', 'configmap', 'after-the-backup');
    await kubectl('annotate', plane, annotation('restore', 'latest'));
    await until(async () => {
      assert.equal(await workload('get', 'configmap/after-the-backup', '--ignore-not-found', '-o', 'name'), '');
    });
    await kubectl('wait', plane, '--for=condition=Available', '--timeout=600s');
    workload = await stage.workload(name);
    await expectKept(workload, 'first');
    await expectWorks(workload, 'after-the-restore');
  });
  await step('deleted to the last Pod and volume', async () => {
    await kubectl('delete', `cluster/${name}`, '--timeout=600s');
    const kinds = 'pods,deployments,statefulsets,services,pvc,secrets,configmaps,poddisruptionbudgets,networkpolicies';
    await until(async () => {
      const left = await stage.names(kinds);
      const others = ['configmap/kube-root-ca.crt', 'secret/simulated-cloud', 'service/kubernetes'];
      assert.deepEqual(
        left.filter((one) => !others.includes(one)),
        [],
      );
      assert.deepEqual(await stage.names('pv'), []);
    });
  });
}

async function loseMember({ kubectl, value }: Stage): Promise<void> {
  const pods = (await kubectl('get', 'pods', ...etcdPods, '-o', 'name')).trim().split('\n').sort();
  assert.equal(pods.length, 3);
  const member = (pods[1] ?? '').replace('pod/', '');
  const claim = await value(
    `pod/${member}`,
    '.spec.volumes[?(@.persistentVolumeClaim)].persistentVolumeClaim.claimName',
  );
  const before = await value(`pvc/${claim}`, '.metadata.uid');
  await kubectl('delete', `pvc/${claim}`, '--wait=false');
  await kubectl('delete', `pod/${member}`, '--wait=false');
  await until(async () => {
    const now = await value(`pvc/${claim}`, '.metadata.uid');
    assert.notEqual(now, before);
    assert.equal(await value(`pod/${member}`, '.status.conditions[?(@.type=="Ready")].status'), 'True');
    assert.equal(await value(plane, '.status.conditions[?(@.type=="EtcdClusterReady")].status'), 'True');
  });
}
