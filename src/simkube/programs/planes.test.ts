import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigMaps, Namespaces, ServiceAccounts } from '../../api/index.ts';
import { type ManualClock, systemClock } from '../../machinery/index.ts';
import { simulatedSnapshotKeys } from '../etcd/snapshot.ts';
import { etcdBehind } from './etcd/way.ts';
import { createProgramLab, type ProgramLab } from './testing/lab.ts';
import {
  adminOf,
  apiArgs,
  apiServerImage,
  createPlanePki,
  etcdArgs,
  etcdImage,
  initialCluster,
  isServing,
  startPlane,
} from './testing/plane.ts';

let lab: ProgramLab;
afterEach(() => lab.close());

const writes = { fieldManager: 'test' };
const map = (name: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { a: 'b' },
});

describe('a plane of Pods', () => {
  it('serves its API and runs its controllers while a controller manager runs', async () => {
    lab = createProgramLab();
    const pki = await createPlanePki(lab.clock);
    await startPlane(lab, pki);
    const admin = await adminOf(lab, pki, 'api-0');
    await admin.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'one' } }, writes);
    const manager = lab.pod('manager-0', {
      '/etc/kubernetes/controller-manager.conf': await pki.kubeconfig(
        'https://api-0:6443',
        'system:kube-controller-manager',
      ),
      '/pki/ca.crt': pki.authority.certificate,
      '/pki/ca.key': pki.authority.privateKey,
    });
    manager.start('registry.k8s.io/kube-controller-manager:v1.33.1', [
      'kube-controller-manager',
      '--kubeconfig=/etc/kubernetes/controller-manager.conf',
      '--cluster-signing-cert-file=/pki/ca.crt',
      '--cluster-signing-key-file=/pki/ca.key',
      '--root-ca-file=/pki/ca.crt',
      '--leader-elect=true',
    ]);
    await lab.until(async () => {
      const { items } = await admin.list(ServiceAccounts, { namespace: 'one' });
      return items.length === 1;
    });
    expect(manager.lines.join('\n')).toContain('successfully acquired lease');
  });

  it('keeps its objects when all its Pods are restarted', async () => {
    lab = createProgramLab();
    const pki = await createPlanePki(lab.clock);
    const { etcd, api, etcdRun, apiRun } = await startPlane(lab, pki);
    const admin = await adminOf(lab, pki, 'api-0');
    await admin.create(ConfigMaps, map('kept'), writes);
    await apiRun.stop();
    await etcdRun.stop();
    // Longer than unused data stays in memory.
    await (lab.clock as ManualClock).advance(60_000);
    const again = (): void => {
      etcd.start(etcdImage, etcdArgs('etcd-0', [`--initial-cluster=${initialCluster('etcd-0')}`]));
      api.start(apiServerImage, apiArgs('https://etcd-0:2379'));
    };
    again();
    await lab.until(() => isServing(lab, 'api-0'));
    const kept = await (await adminOf(lab, pki, 'api-0')).get(ConfigMaps, { namespace: 'default', name: 'kept' });
    expect(kept.data).toEqual({ a: 'b' });
  });

  it('is emptied and refilled through etcd, as a restore does it', async () => {
    lab = createProgramLab();
    const pki = await createPlanePki(lab.clock);
    const { api, apiRun } = await startPlane(lab, pki);
    await (await adminOf(lab, pki, 'api-0')).create(ConfigMaps, map('kept'), writes);
    await apiRun.stop();
    const { data } = etcdBehind(lab.dial('etcd-0', 2379))!.endpoint;
    const backup = (await simulatedSnapshotKeys(Buffer.from(await data.snapshot())))!;
    expect(await data.deleteRange({ from: '\0', to: '\0' })).toBe(backup.length);
    expect((await data.range({ from: '\0', to: '\0' })).count).toBe(0);
    for (const { key, value } of backup) await data.put(key.toString(), value.toString());
    api.start(apiServerImage, apiArgs('https://etcd-0:2379'));
    await lab.until(() => isServing(lab, 'api-0'));
    const kept = await (await adminOf(lab, pki, 'api-0')).get(ConfigMaps, { namespace: 'default', name: 'kept' });
    expect(kept.data).toEqual({ a: 'b' });
  });

  it('is found again by another process and gone with the volume of its etcd', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'capstan-planes-'));
    try {
      lab = createProgramLab({ directory, clock: systemClock });
      const pki = await createPlanePki(lab.clock);
      const { etcd } = await startPlane(lab, pki);
      await (await adminOf(lab, pki, 'api-0')).create(ConfigMaps, map('kept'), writes);
      const volume = new Map(etcd.files);
      await lab.close();
      lab = createProgramLab({ directory, seed: 9, clock: systemClock });
      const args = [`--initial-cluster=${initialCluster('etcd-0')}`];
      lab.pod('etcd-0', Object.fromEntries(volume)).start(etcdImage, etcdArgs('etcd-0', args));
      lab.pod('api-0', await pki.apiFiles('api-0')).start(apiServerImage, apiArgs('https://etcd-0:2379'));
      await lab.until(() => isServing(lab, 'api-0'));
      const kept = await (await adminOf(lab, pki, 'api-0')).get(ConfigMaps, { namespace: 'default', name: 'kept' });
      expect(kept.data).toEqual({ a: 'b' });
      lab.kubernetes.filesRemoved(volume.values());
      await vi.waitFor(() => expect(readdirSync(directory)).toEqual([]));
    } finally {
      await lab.close();
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
