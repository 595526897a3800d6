import { afterEach, describe, expect, it } from 'vitest';
import {
  KubeadmControlPlanes,
  type Machine,
  MachineHealthChecks,
  Machines,
  type Secret,
  Secrets,
} from '../../../api/index.ts';
import { ManualClock, systemClock } from '../../../machinery/index.ts';
import { createAuthority } from '../../../pki/index.ts';
import {
  conditionOf,
  controllerOf,
  createClusterKubeconfig,
  kubeconfigNeedsRotation,
  secretText,
} from '../../shared/index.ts';
import { by } from '../../testing/world.ts';
import { createKubeadmCluster, createKubeadmWorld, type KubeadmWorld } from './testing/kubeadm-world.ts';

let world: KubeadmWorld | undefined;
afterEach(async () => {
  const ended = world;
  world = undefined;
  await ended?.stop();
  expect(ended?.etcd.violations ?? []).toEqual([]);
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const day = 24 * 3_600_000;
const names = (list: readonly Machine[]): string[] => list.map(({ metadata }) => metadata.name ?? '').sort();

describe('a health check of a kubeadm control plane', () => {
  it('replaces an unresponsive machine and keeps the others', async () => {
    world = await createKubeadmWorld();
    const w = world;
    await createKubeadmCluster(w, { replicas: 3 });
    await w.until(w.settled(3));
    await w.client.create(
      MachineHealthChecks,
      {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'MachineHealthCheck',
        metadata: { name: 'cp', namespace: w.namespace },
        spec: {
          clusterName: 'c1',
          selector: { matchLabels: { 'cluster.x-k8s.io/control-plane': '' } },
          checks: { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 120 }] },
        },
      },
      by,
    );
    const [ill = '', ...others] = names(await w.machines());
    await w.kill(ill);
    await w.until(async () => !names(await w.machines()).includes(ill));
    await w.until(w.settled(3));
    const now = names(await w.machines());
    expect(now).toEqual(expect.arrayContaining(others));
    expect(w.etcd.names()).toEqual(now);
    expect((await w.controlPlane()).status?.lastRemediation).toMatchObject({ machine: ill, retryCount: 0 });
  });
});

describe('machines that are older than their control plane', () => {
  /** removes a machine's owner references, as a restore from a backup does */
  async function orphan(w: KubeadmWorld, change: { version?: string } = {}): Promise<string> {
    const [name = ''] = names(await w.machines());
    const spec = change.version === undefined ? {} : { spec: { version: change.version } };
    const patch = { metadata: { ownerReferences: null }, ...spec };
    await w.client.patch(Machines, { namespace: w.namespace, name }, 'merge', patch, by);
    return name;
  }

  it('are adopted instead of duplicated', async () => {
    world = await createKubeadmWorld();
    const w = world;
    await createKubeadmCluster(w);
    await w.until(w.settled(1));
    const name = await orphan(w);
    await w.until(w.settled(1));
    const all = await w.list(Machines);
    expect(names(all)).toEqual([name]);
    expect(controllerOf(all[0]!)).toMatchObject({ kind: 'KubeadmControlPlane', name: 'cp' });
  });

  it('are not adopted when their version is too far away, and no others are created', async () => {
    world = await createKubeadmWorld();
    const w = world;
    await createKubeadmCluster(w);
    await w.until(w.settled(1));
    const name = await orphan(w, { version: 'v1.30.0' });
    await w.pass(120_000);
    const all = await w.list(Machines);
    expect(names(all)).toEqual([name]);
    expect(controllerOf(all[0]!)).toBeUndefined();
    expect(JSON.stringify(w.entries)).toContain('cannot be adopted by a KubeadmControlPlane of version v1.33.0');
  });
});

describe('an instance with a watch filter', () => {
  const label = 'cluster.x-k8s.io/watch-filter';

  it('ignores objects without its label, and acts on them when they get it', async () => {
    world = await createKubeadmWorld({ watchFilter: 'ours' });
    const w = world;
    await createKubeadmCluster(w);
    await w.pass(60_000);
    expect((await w.controlPlane()).metadata.finalizers ?? []).toEqual([]);
    expect(await w.list(Machines)).toEqual([]);
    await w.patchControlPlane({ metadata: { labels: { [label]: 'theirs' } } });
    await w.pass(60_000);
    expect(await w.list(Machines)).toEqual([]);
    await w.patchControlPlane({ metadata: { labels: { [label]: 'ours' } } });
    await w.until(w.settled(1));
  });
});

describe('a kubeadm control plane with external etcd', () => {
  it('scales and replaces machines without contacting etcd', async () => {
    const asked: string[] = [];
    world = await createKubeadmWorld({
      etcdOpened: (node) => void asked.push(node),
    });
    const w = world;
    const begun = w.clock.now();
    const external = {
      endpoints: ['https://etcd.test:2379'],
      caFile: '/etc/kubernetes/pki/etcd/ca.crt',
      certFile: '/etc/kubernetes/pki/apiserver-etcd-client.crt',
      keyFile: '/etc/kubernetes/pki/apiserver-etcd-client.key',
    };
    const { certificate, privateKey } = await createAuthority({ commonName: 'etcd client', clock: systemClock });
    const data = { 'tls.crt': base64(certificate), 'tls.key': base64(privateKey) };
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'c1-apiserver-etcd-client', namespace: w.namespace },
      data,
    };
    await createKubeadmCluster(w, { kubeadmConfigSpec: { clusterConfiguration: { etcd: { external } } } });
    const told = async (): Promise<string> =>
      conditionOf(await w.controlPlane(), 'CertificatesAvailable')?.message ?? '';
    await w.until(async () => (await told()).includes('c1-apiserver-etcd-client does not exist'));
    // users may take an hour, and the reconcile must continue afterwards
    await w.until(() => w.clock.now() > begun + 3_600_000, 2 * 3_600_000);
    await w.client.create(Secrets, secret, by);
    await w.until(w.settled(1), 120_000);
    for (const replicas of [3, 2]) {
      await w.patchControlPlane({ spec: { replicas } });
      await w.until(w.settled(replicas));
    }
    const [gone = ''] = names(await w.machines());
    await w.client.delete(Machines, { namespace: w.namespace, name: gone });
    await w.until(async () => !names(await w.machines()).includes(gone));
    await w.until(w.settled(2));
    expect(asked).toEqual([]);
    const [machine] = await w.machines();
    const gates = machine?.spec.readinessGates?.map(({ conditionType }) => conditionType) ?? [];
    expect(gates.filter((gate) => gate.startsWith('Etcd'))).toEqual([]);
    const types = [...(machine?.status?.conditions ?? []), ...((await w.controlPlane()).status?.conditions ?? [])];
    expect(types.filter(({ type }) => type.startsWith('Etcd'))).toEqual([]);
  });
});

describe('the kubeconfig of a kubeadm control plane', () => {
  const key = (w: KubeadmWorld) => ({ namespace: w.namespace, name: 'c1-kubeconfig' });

  /** stores a kubeconfig past half of its certificate's lifetime, in a Secret of the given type */
  async function bringAged(w: KubeadmWorld, type: string): Promise<string> {
    const authority = await createAuthority({ commonName: 'kubernetes', clock: systemClock });
    const text = await createClusterKubeconfig({
      clusterName: 'c1',
      server: 'https://127.0.0.1:6443',
      authority,
      clock: new ManualClock(w.clock.now() - 200 * day),
    });
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...key(w), labels: { 'cluster.x-k8s.io/cluster-name': 'c1' } },
      type,
      data: { value: base64(text) },
    };
    await w.client.create(Secrets, secret, by);
    return text;
  }

  it.each([
    ['is renewed at half of its life when it is ours', 'cluster.x-k8s.io/secret', true],
    ['is left to those who brought it', 'Opaque', false],
  ])('%s', async (_what, type, isRenewed) => {
    world = await createKubeadmWorld();
    const w = world;
    const aged = await bringAged(w, type);
    expect(kubeconfigNeedsRotation(aged, w.clock.now())).toBe(true);
    await createKubeadmCluster(w, {}, { secrets: ['ca', 'etcd', 'proxy', 'sa'] });
    await w.until(w.settled(1));
    const secret = await w.client.get(Secrets, key(w));
    const text = secretText(secret, 'value') ?? '';
    expect(kubeconfigNeedsRotation(text, w.clock.now())).toBe(!isRenewed);
    expect(controllerOf(secret, KubeadmControlPlanes)?.name).toBe(isRenewed ? 'cp' : undefined);
  });
});
