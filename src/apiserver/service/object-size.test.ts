import { describe, expect, it } from 'vitest';
import { applyPatch, mergePatch, onTargets, targetsByEngine } from '../testing/index.ts';

const tooLarge = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'etcdserver: request is too large',
  code: 500,
};

const annotated = (name: string, data: Record<string, string>) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name },
  spec: { holderIdentity: data['text'] ?? '' },
});

onTargets(targetsByEngine, (on) => {
  describe('the size of an object', () => {
    it('is limited as in etcd, and a refused object leaves no trace', async () => {
      const { api } = on();
      const ns = await on().namespace();
      const leases = ns.of('coordination.k8s.io/v1', 'leases');
      const before = (await api.get(leases)).object.metadata.resourceVersion;
      const refused = await api.post(leases, annotated('big', { text: 'x'.repeat(1_580_000) }));
      expect(refused.status).toBe(500);
      expect(refused.body).toEqual(tooLarge);
      expect((await api.get(`${leases}/big`)).status).toBe(404);
      const accepted = await api.post(leases, annotated('big', { text: 'x'.repeat(1_500_000) }));
      expect(accepted.status).toBe(201);
      expect(Number(accepted.object.metadata.resourceVersion)).toBeGreaterThan(Number(before));
    });

    it('is limited for updates too, and the stored object stays unchanged', async () => {
      const { api } = on();
      const ns = await on().namespace();
      const leases = ns.of('coordination.k8s.io/v1', 'leases');
      const path = `${leases}/grown`;
      await api.create(leases, annotated('grown', { text: 'small' }));
      const patch = { spec: { holderIdentity: 'x'.repeat(1_580_000) } };
      expect((await api.patch(path, mergePatch, patch)).body).toEqual(tooLarge);
      const applied = { ...annotated('grown', { text: 'x'.repeat(1_580_000) }) };
      const answer = await api.patch(`${path}?fieldManager=a&force=true`, applyPatch, applied);
      expect(answer.body).toEqual(tooLarge);
      expect((await api.get(path)).body).toMatchObject({ spec: { holderIdentity: 'small' } });
    });

    it('is limited without managed fields, which are dropped when they do not fit', async () => {
      const { api } = on();
      const ns = await on().namespace();
      // Field names take as many bytes as the data, so field ownership would make the object too large.
      const data = Object.fromEntries(
        Array.from({ length: 4000 }, (_, index) => [`${'k'.repeat(200)}${index}`.slice(-220), 'v']),
      );
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wide' }, data };
      const answer = await api.post(ns.core('configmaps'), object);
      expect(answer.status).toBe(201);
      expect(answer.object.metadata.managedFields).toBeUndefined();
      expect((await api.get(`${ns.core('configmaps')}/wide`)).object.metadata.managedFields).toBeUndefined();
    });
  });
});
