import { describe, expect, it } from 'vitest';
import type { Client } from '../../../client/index.ts';
import type { Resource, UnstructuredObject } from '../../../machinery/index.ts';
import type { Follower } from '../../shared/index.ts';
import { createObjectApplier } from './apply-objects.ts';

const resource: Resource<UnstructuredObject> = {
  group: 'bootstrap.cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'KubeadmConfigTemplate',
  plural: 'kubeadmconfigtemplates',
  namespaced: true,
};
const owner = { apiVersion: 'v1', kind: 'Cluster', metadata: { name: 'one', namespace: 'default', uid: 'u' } };
const template = (spec: object): UnstructuredObject => ({
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
  kind: 'KubeadmConfigTemplate',
  metadata: {
    name: 'one-md-0-abcde',
    namespace: 'default',
    uid: 't',
    generation: 1,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Cluster', name: 'one', uid: 'u' }],
  },
  spec: { ...spec },
});

describe('a template in use', () => {
  /** Simulates a server whose webhook sets defaults on templates in the topology's requests. */
  const settle = async (live: UnstructuredObject, desired: UnstructuredObject): Promise<string | undefined> => {
    const defaulted = (object: UnstructuredObject) => ({
      ...object,
      spec: { format: 'cloud-config', ...Object(object['spec']) },
    });
    const client = {
      apply: async (_: unknown, object: UnstructuredObject) => defaulted(object),
      patch: async () => defaulted(live),
    } as Partial<Client> as Client;
    const follower = {
      kindOf: async () => ({ resource, contract: 'v1beta2' }),
      get: async ({ name }: { name: string }) => (name === live.metadata.name ? { object: live } : undefined),
    } as Partial<Follower> as Follower;
    const { signal } = new AbortController();
    const prefix = 'one-md-0-';
    const { desired: settled } = await createObjectApplier().settle({ client, signal }, follower, owner, {
      object: desired,
      prefix,
      role: 'md-0',
    });
    return settled.metadata.name;
  };

  it('stays when it only lacks webhook defaults', async () => {
    expect(await settle(template({ files: [] }), template({ files: [] }))).toBe('one-md-0-abcde');
  });

  it('is replaced when its content differs', async () => {
    expect(await settle(template({ files: [] }), template({ files: ['a'] }))).not.toBe('one-md-0-abcde');
  });
});

describe('what was applied', () => {
  it('is remembered only for objects that a cluster still has', async () => {
    const applier = createObjectApplier();
    const client = { apply: async (_: unknown, object: UnstructuredObject) => object } as Partial<Client> as Client;
    const { signal } = new AbortController();
    const key = { namespace: 'default', name: 'one' };
    const objects = ['a', 'b'].map((uid) => {
      const object = template({ uid });
      return { ...object, metadata: { ...object.metadata, uid } };
    });
    const changes = objects.map((object) => ({ resource, desired: object, live: object }));
    for (const change of changes) await applier.apply({ client, signal }, change);
    const differ = (): boolean[] => changes.map((change) => applier.differs(change));
    applier.keepOnly(key, objects);
    expect(differ()).toEqual([false, false]);
    applier.keepOnly(key, objects.slice(1));
    expect(differ()).toEqual([true, false]);
    applier.keepOnly(key, []);
    expect(differ()).toEqual([true, true]);
  });
});
