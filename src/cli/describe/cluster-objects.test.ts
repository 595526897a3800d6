import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Client } from '../../client/index.ts';
import { ManualClock, type Resource, type UnstructuredObject } from '../../machinery/index.ts';
import { applyDocuments } from '../manifests/apply-documents.ts';
import { addDocuments, type Manifests } from '../manifests/read-manifests.ts';
import { type MemoryApi, recordingContext, startMemoryApi } from '../testing/memory-api.ts';
import { type ClusterObjects, readCluster } from './cluster-objects.ts';
import { followCluster } from './follow-cluster.ts';

let api: MemoryApi;
const signal = new AbortController().signal;
const clusters = {
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'Cluster',
  plural: 'clusters',
  namespaced: true,
};
const kindsAndNames = ({ objects }: ClusterObjects): string[] =>
  objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort();

beforeAll(async () => {
  api = await startMemoryApi();
  const file = new URL('../../../examples/vm-cluster/cluster.yaml', import.meta.url);
  const manifests: Manifests = { documents: [], problems: [] };
  addDocuments(await readFile(file, 'utf8'), 'example', manifests);
  const failures = await applyDocuments(manifests.documents, api.connection, {
    dryRun: false,
    forceConflicts: false,
    definitionTimeoutMs: 0,
    signal,
    now: () => 0,
    sleep: async () => {},
    onApplied: () => {},
  });
  expect(failures).toEqual([]);
});
afterAll(() => api.close());

describe('readCluster', () => {
  it('finds objects that the cluster references and objects with its label', async () => {
    const found = await readCluster(api.connection, 'vm-cluster', { resourceSets: false, signal });
    expect(found.cluster.metadata.name).toBe('vm-cluster');
    expect(kindsAndNames(found)).toEqual([
      'KubeadmControlPlane/vm-cluster-control-plane',
      'MachineDeployment/vm-cluster-md-0',
      'OpenStackCluster/vm-cluster',
    ]);
  });

  it('fails with CAP_CLUSTER_NOT_FOUND when the cluster does not exist', async () => {
    await expect(readCluster(api.connection, 'none', { resourceSets: false, signal })).rejects.toMatchObject({
      code: 'CAP_CLUSTER_NOT_FOUND',
      message: 'there is no cluster "none" in the namespace "default"',
    });
  });
});

describe('followCluster', () => {
  it('reports every change until the cluster is gone', async () => {
    const { client } = api.connection;
    const resource = clusters as Resource<UnstructuredObject>;
    const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackCluster', name: 'f' };
    const made = { metadata: { name: 'followed', namespace: 'default' }, spec: { infrastructureRef, paused: false } };
    await client.apply(resource, made as never, { fieldManager: 'test' });
    const seen: unknown[] = [];
    const outcome = followCluster(api.connection, 'followed', {
      clock: recordingContext().clock,
      signal,
      onChange({ cluster }) {
        const paused = (cluster as { spec?: { paused?: boolean } }).spec?.paused;
        seen.push(paused);
        const next = paused
          ? client.delete(resource, { namespace: 'default', name: 'followed' })
          : client.apply(resource, { ...made, spec: { infrastructureRef, paused: true } } as never, {
              fieldManager: 'test',
            });
        next.catch(() => {});
      },
    });
    await expect(outcome).resolves.toBe('gone');
    expect(seen).toEqual([false, true]);
  });

  it('reports nothing before all objects are known', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = new Proxy(api.connection.client, {
      get(target, verb: keyof Client) {
        const call = target[verb].bind(target) as (...args: unknown[]) => unknown;
        if (verb !== 'watch') return call;
        return async function* (resource: Resource, options: object) {
          if (resource.plural === 'machinedeployments') await released;
          yield* call(resource, options) as AsyncIterable<unknown>;
        };
      },
    });
    const clock = new ManualClock();
    const stop = new AbortController();
    const seen: string[][] = [];
    const outcome = followCluster({ ...api.connection, client: slow }, 'vm-cluster', {
      clock,
      signal: stop.signal,
      onChange: (found) => void seen.push(kindsAndNames(found)),
    });
    await clock.advance(1000);
    expect(seen).toEqual([]);
    release();
    await vi.waitFor(async () => {
      await clock.advance(1000);
      expect(seen).not.toEqual([]);
    });
    stop.abort();
    await outcome;
    // Includes objects without the cluster label, because no controller has set it.
    expect(seen[0]).toEqual([
      'KubeadmControlPlane/vm-cluster-control-plane',
      'MachineDeployment/vm-cluster-md-0',
      'OpenStackCluster/vm-cluster',
    ]);
  });

  it('ends when it is stopped', async () => {
    const context = recordingContext();
    const outcome = followCluster(api.connection, 'vm-cluster', {
      clock: context.clock,
      signal: context.signal,
      onChange: () => context.stop(),
    });
    await expect(outcome).resolves.toBe('stopped');
  });

  it('fails with CAP_CLUSTER_NOT_FOUND when the cluster does not exist', async () => {
    const outcome = followCluster(api.connection, 'none', { clock: recordingContext().clock, signal, onChange() {} });
    await expect(outcome).rejects.toMatchObject({ code: 'CAP_CLUSTER_NOT_FOUND' });
  });
});
