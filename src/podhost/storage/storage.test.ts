import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PersistentVolumeClaims, PersistentVolumes, Pods } from '../../api/index.ts';
import type { SimulatedProgram } from '../../simkube/index.ts';
import { by, container, type HostWorld, hostWorld, isReady, namespace, untilStopped } from '../testing/host-world.ts';

let world: HostWorld;
const directory = mkdtempSync(join(tmpdir(), 'podhost-volumes-'));
beforeAll(async () => {
  world = await hostWorld({ directory });
});
afterAll(async () => {
  await world.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Counts its starts in a file. */
const counts: SimulatedProgram = async ({ files, log, signal }) => {
  for (const path of ['/data/starts', '/scratch/starts', '/tmp/starts']) {
    const starts = Number(files.read(path) ?? 0) + 1;
    files.write(path, String(starts));
    log(`${path} ${starts}`);
  }
  await untilStopped(signal);
  return 0;
};

const createClaim = (name: string, storageClassName?: string): Promise<unknown> =>
  world.client.create(
    PersistentVolumeClaims,
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
        ...(storageClassName !== undefined && { storageClassName }),
      },
    },
    by,
  );
const createPod = (name: string, claimName: string): Promise<unknown> =>
  world.createPod(name, {
    volumes: [
      { name: 'data', persistentVolumeClaim: { claimName } },
      { name: 'scratch', emptyDir: {} },
    ],
    containers: [
      container({
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'scratch', mountPath: '/scratch' },
        ],
      }),
    ],
  });
const restarted = (count: number) => (pod: Parameters<typeof isReady>[0]) =>
  isReady(pod) && pod.status?.containerStatuses?.[0]?.restartCount === count;

describe('volumes', () => {
  it('keep their content over host restarts and new Pods until their claim is deleted', async () => {
    world.use({ app: counts });
    await createClaim('c');
    await createPod('p', 'c');
    await world.podUntil('p', isReady);
    expect(await world.log('p')).toBe('/data/starts 1\n/scratch/starts 1\n/tmp/starts 1\n');
    await world.restart();
    await world.podUntil('p', restarted(1));
    expect(await world.log('p')).toBe('/data/starts 2\n/scratch/starts 2\n/tmp/starts 1\n');

    await world.client.delete(Pods, { namespace, name: 'p' });
    await world.until(async () => (await world.find(Pods, 'p')) === undefined);
    await createPod('p', 'c');
    await world.podUntil('p', isReady);
    expect(await world.log('p')).toBe('/data/starts 3\n/scratch/starts 1\n/tmp/starts 1\n');

    await world.clear();
    await world.client.delete(PersistentVolumeClaims, { namespace, name: 'c' });
    await world.until(async () => (await world.client.list(PersistentVolumes)).items.length === 0);
    await world.until(() => readdirSync(directory).length === 0);
    expect(world.removed).toContain('3');
  });

  it.each([
    ['is not there', undefined, 'persistentvolumeclaim "missing" not found'],
    ['has an unknown class', 'fast', 'pod has unbound immediate PersistentVolumeClaims'],
  ])('hold back a Pod whose claim %s, and say so', async (_, storageClass, problem) => {
    if (storageClass !== undefined) await createClaim('missing', storageClass);
    await createPod('p', 'missing');
    const pod = await world.podUntil('p', ({ status }) => (status?.conditions?.length ?? 0) > 0);
    expect(pod.status?.conditions?.[0]).toMatchObject({
      type: 'PodScheduled',
      status: 'False',
      message: `0/1 nodes are available: ${problem}`,
    });
    await world.until(async () => (await world.events('p')).some(({ reason }) => reason === 'FailedScheduling'));
    if (storageClass === undefined) {
      await createClaim('missing');
      await world.podUntil('p', isReady);
    }
    await world.clear();
    await world.client.delete(PersistentVolumeClaims, { namespace, name: 'missing' });
    await world.until(async () => (await world.find(PersistentVolumeClaims, 'missing')) === undefined);
  });
});
