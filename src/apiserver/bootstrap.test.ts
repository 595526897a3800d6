import { describe, expect, it } from 'vitest';
import { ManualClock, type UnstructuredObject } from '../machinery/index.ts';
import { startTestServer } from './testing/index.ts';

const lists = [
  '/api/v1/namespaces',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  '/apis/rbac.authorization.k8s.io/v1/roles',
  '/apis/rbac.authorization.k8s.io/v1/rolebindings',
  '/apis/scheduling.k8s.io/v1/priorityclasses',
];

describe('the initial objects of a server', () => {
  it('are the same in each server of a process, except for UIDs and times', async () => {
    const now = Math.floor(Date.now() / 1000) * 1000;
    const first = await beginning(now);
    const later = await beginning(now + 3_600_000);
    expect(first.length).toBeGreaterThan(100);
    expect(later.map(withoutIdentity)).toEqual(first.map(withoutIdentity));
    const uids = [...first, ...later].map(({ metadata }) => metadata.uid);
    expect(new Set(uids).size).toBe(uids.length);
    for (const [index, { metadata }] of later.entries()) {
      const { creationTimestamp, managedFields } = first[index]!.metadata;
      expect(Date.parse(metadata.creationTimestamp!) - Date.parse(creationTimestamp!)).toBe(3_600_000);
      expect(metadata.managedFields?.map(({ time }) => time)).toEqual(
        managedFields?.map(() => metadata.creationTimestamp),
      );
    }
  });
});

async function beginning(atMs: number): Promise<UnstructuredObject[]> {
  const server = await startTestServer({ clock: new ManualClock(atMs) });
  try {
    const api = server.api();
    const answers = await Promise.all(lists.map((path) => api.get(path)));
    return answers.flatMap(({ items }) => items);
  } finally {
    await server.stop();
  }
}

function withoutIdentity({ metadata, ...rest }: UnstructuredObject): unknown {
  const { uid: _, creationTimestamp: __, resourceVersion: ___, managedFields, ...same } = metadata;
  return { ...rest, metadata: same, owners: managedFields?.map(({ time: ____, ...entry }) => entry) };
}
