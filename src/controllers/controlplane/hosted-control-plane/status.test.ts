import { describe, expect, it } from 'vitest';
import type { HostedControlPlane } from '../../../api/index.ts';
import { done } from '../../../runtime/index.ts';
import type { PlaneReport } from '../plane-driver/index.ts';
import { observeHosted } from './status.ts';

const mebibyte = 1024 * 1024;

/** Report of a running plane whose etcd has the given size. */
const report = (dbSizeBytes: number): PlaneReport => ({
  stages: new Map(),
  isSettled: true,
  counts: { desired: 1, replicas: 1, ready: 1, available: 1, upToDate: 1 },
  selector: '',
  isFunctional: true,
  certificates: [],
  etcd: { members: 3, ready: 3, hasQuorum: true, dbSizeBytes },
  rotations: [],
  result: done(),
});

describe('the reported etcd volume usage', () => {
  it.each([
    [1, '16Mi'],
    [3 * mebibyte, '16Mi'],
    [4 * mebibyte, '16Mi'],
    [16 * mebibyte, '16Mi'],
    [16 * mebibyte + 1, '32Mi'],
    [1000 * mebibyte, '1008Mi'],
  ])('is rounded up in steps, so that small writes do not change it: %d bytes are %s', (bytes, shown) => {
    const draft: HostedControlPlane = {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
      kind: 'HostedControlPlane',
      metadata: { name: 'c1', namespace: 'default' },
      spec: { version: 'v1.33.6', replicas: 1 },
    };
    observeHosted(draft, report(bytes), 0);
    expect(draft.status?.etcdVolumeUsage).toBe(shown);
  });
});
