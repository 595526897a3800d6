import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  Leases,
  Nodes,
  PersistentVolumeClaims,
  PersistentVolumes,
  Pods,
  Secrets,
  ServiceAccounts,
  Services,
} from '../../api/index.ts';
import type { SimulatedProgram } from '../../simkube/index.ts';
import { by, container, type HostWorld, hostWorld, isReady, namespace, untilStopped } from '../testing/host-world.ts';

let world: HostWorld;
afterEach(() => world.stop());

const nodeName = 'capstan';

/** Logs the content of a file at start. */
const shows: SimulatedProgram = async ({ files, log, signal }) => {
  log(files.read('/secret/word') ?? 'nothing');
  await untilStopped(signal);
  return 0;
};

const showOnce: SimulatedProgram = async ({ files, log }) => {
  log(files.read('/secret/word') ?? 'nothing');
  return 0;
};

const secret = (name: string, word: string) =>
  world.client.create(
    Secrets,
    { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data: { word: btoa(word) } },
    by,
  );
/** There is no scheduler: the test assigns Pods to the node. */
const createPod = (name: string, spec: Partial<Parameters<HostWorld['createPod']>[1]> = {}) =>
  world.createPod(name, { nodeName, containers: [container()], ...spec });

describe('a host of Pods as a node of another Kubernetes', () => {
  it('registers with labels and taints and renews its lease as kubelets do', async () => {
    const taints = [{ key: 'capstan.dev/simulated', value: 'true', effect: 'NoSchedule' }];
    world = await hostWorld({ guest: { taints } });
    const node = await world.client.get(Nodes, { name: nodeName });
    expect(node.metadata.labels).toMatchObject({ 'capstan.dev/simulated': 'true' });
    expect(node.spec?.taints).toMatchObject(taints);
    const renewed = async (): Promise<string> =>
      (await world.find(Leases, nodeName).catch(() => undefined))?.spec?.renewTime ??
      (await world.client.get(Leases, { namespace: 'kube-node-lease', name: nodeName })).spec?.renewTime ??
      '';
    await world.until(async () => (await renewed().catch(() => '')) !== '');
    const first = await renewed();
    await world.pass(10_000);
    await world.until(async () => Date.parse(await renewed()) >= Date.parse(first) + 10_000);
    const { spec } = await world.client.get(Leases, { namespace: 'kube-node-lease', name: nodeName });
    expect(spec).toMatchObject({ holderIdentity: nodeName, leaseDurationSeconds: 40 });
  });

  it('reports Ready again after it was taken for dead', async () => {
    world = await hostWorld({ guest: {} });
    const node = await world.client.get(Nodes, { name: nodeName });
    const conditions = node.status!.conditions!.map((condition) =>
      condition.type === 'Ready' ? { ...condition, status: 'Unknown' } : condition,
    );
    const status = { ...node.status, conditions };
    await world.client.update(Nodes, { ...node, status }, { ...by, subresource: 'status' });
    await world.until(async () =>
      (await world.client.get(Nodes, { name: nodeName })).status!.conditions!.some(
        ({ type, status: value }) => type === 'Ready' && value === 'True',
      ),
    );
  });

  it('runs the Pods it is given and leaves those without a node alone', async () => {
    world = await hostWorld({ guest: {} });
    await createPod('given');
    await world.createPod('waiting', { containers: [container()] });
    await world.podUntil('given', isReady);
    expect((await world.pod('waiting')).status?.phase).toBe('Pending');
  });

  it('reads the Secrets its Pods name, sees them change and may read no others', async () => {
    world = await hostWorld({ guest: {}, programs: { app: shows, show: showOnce } });
    await secret('named', 'first');
    await secret('foreign', 'hidden');
    await createPod('reader', {
      volumes: [{ name: 'word', secret: { secretName: 'named' } }],
      containers: [container({ volumeMounts: [{ name: 'word', mountPath: '/secret' }] })],
    });
    await world.podUntil('reader', isReady);
    expect(await world.log('reader')).toBe('first\n');
    const found = await world.client.get(Secrets, { namespace, name: 'named' });
    await world.client.update(Secrets, { ...found, data: { word: btoa('second') } }, by);
    // Commands take time, and the clock advances only while somebody waits.
    const said: string[] = [];
    const pod = await world.pod('reader');
    await world.until(() => {
      void world.host.podExecutor(pod as never, {
        container: 'main',
        command: ['show'],
        tty: false,
        signal: new AbortController().signal,
        out: (text) => said.push(text),
        error: () => {},
      });
      return said.includes('second\n');
    });
    await expect(world.asNode.get(Secrets, { namespace, name: 'foreign' })).rejects.toMatchObject({ code: 403 });
    await expect(world.asNode.list(Secrets, {})).rejects.toMatchObject({ code: 403 });
  });

  it('gets tokens for the accounts of its Pods and for no others', async () => {
    world = await hostWorld({ guest: {} });
    await world.client.create(
      ServiceAccounts,
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } },
      by,
    );
    await createPod('talker', {
      serviceAccountName: 'default',
      volumes: [{ name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }],
      containers: [container({ volumeMounts: [{ name: 'token', mountPath: '/var/token' }] })],
    });
    await world.podUntil('talker', isReady);
  });

  it('makes a volume once the scheduler has chosen it, keeps it over a restart, removes it with its claim', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'podhost-guest-'));
    try {
      world = await hostWorld({ guest: {}, directory });
      const claim = await world.client.create(
        PersistentVolumeClaims,
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'data', namespace },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Gi' } },
            storageClassName: 'standard',
          },
        },
        by,
      );
      const volumeName = `pvc-${claim.metadata.uid}`;
      await createPod('user', {
        volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
        containers: [container({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
      });
      const choose = (node: string): Promise<unknown> =>
        world.client.patch(
          PersistentVolumeClaims,
          { namespace, name: 'data' },
          'merge',
          { metadata: { annotations: { 'volume.kubernetes.io/selected-node': node } } },
          by,
        );
      await choose('another');
      await world.pass(5_000);
      expect(await world.find(PersistentVolumes, volumeName)).toBeUndefined();
      await choose(nodeName);
      await world.podUntil('user', isReady);
      const volume = await world.find(PersistentVolumes, volumeName);
      expect(JSON.stringify(volume?.spec.nodeAffinity)).toContain('"kubernetes.io/hostname"');
      expect(readdirSync(directory)).toContain(volumeName);
      await world.restart();
      await world.podUntil('user', isReady);
      await world.client.delete(Pods, { namespace, name: 'user' });
      await world.until(async () => (await world.find(Pods, 'user')) === undefined);
      await world.client.delete(PersistentVolumeClaims, { namespace, name: 'data' });
      await world.until(async () => (await world.find(PersistentVolumes, volumeName)) === undefined);
      expect(readdirSync(directory)).not.toContain(volumeName);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });

  it('gives addresses to Services of the type LoadBalancer', async () => {
    world = await hostWorld({ guest: {} });
    await world.client.create(
      Services,
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'plane', namespace },
        spec: { type: 'LoadBalancer', ports: [{ port: 6443 }], selector: { app: 'plane' } },
      },
      by,
    );
    await world.until(
      async () =>
        (await world.find(Services, 'plane'))?.status?.loadBalancer?.ingress?.[0]?.ip?.startsWith('127.') === true,
    );
  });

  it('keeps its Pods after a crash and doubles none', async () => {
    world = await hostWorld({ guest: {} });
    const { metadata } = await createPod('survivor');
    const before = await world.podUntil('survivor', isReady);
    await world.restart();
    const after = await world.podUntil('survivor', isReady);
    expect(after.metadata.uid).toBe(metadata.uid);
    expect(after.status?.podIP).toBe(before.status?.podIP);
    expect((await world.client.list(Pods, { namespace })).items).toHaveLength(1);
  });

  it('is NotReady when it was stopped with Pods and deleted when stopped without', async () => {
    world = await hostWorld({ guest: {} });
    await createPod('left');
    await world.podUntil('left', isReady);
    await world.host.stop();
    const node = await world.client.get(Nodes, { name: nodeName });
    expect(node.status!.conditions!.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      message: 'the program that ran this node was stopped',
    });
    await world.restart();
    await world.client.delete(Pods, { namespace, name: 'left' }, { gracePeriodSeconds: 0 });
    await world.until(async () => (await world.find(Pods, 'left')) === undefined);
    await world.host.stop();
    await expect(world.client.get(Nodes, { name: nodeName })).rejects.toMatchObject({ code: 404 });
  });
});
