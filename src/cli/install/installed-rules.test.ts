import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinDefinitions, ClusterStackReleases, Clusters, Namespaces, ownDefinitions } from '../../api/index.ts';
import { startTestServer, type TestServer } from '../../apiserver/testing/index.ts';
import { ManualClock, must } from '../../machinery/index.ts';
import { installedRules } from './installed-rules.ts';

const by = { fieldManager: 'test' };

describe('rules of the webhooks that read other objects', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ definitions: [...builtinDefinitions, ...ownDefinitions] });
    for (const name of ['platform', 'team']) {
      await server.local.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, by);
    }
    const name = 'openstack-secret-1-33-v1';
    const release = {
      apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
      kind: 'ClusterStackRelease',
      metadata: { name, namespace: 'platform' },
      spec: {},
    };
    await server.local.create(ClusterStackReleases, release, by);
    const status = { kubernetesVersion: 'v1.33.6', ready: true };
    const key = { namespace: 'platform', name };
    await server.local.patch(ClusterStackReleases, key, 'merge', { status }, { ...by, subresource: 'status' });
  });
  afterAll(() => server?.stop());

  it('tell nothing about a class of another namespace that is not granted', async () => {
    const definition = must(
      ownDefinitions.find(({ group, plural }) => group === Clusters.group && plural === Clusters.plural),
      'the definition of Clusters',
    );
    const classRef = { name: 'openstack-secret-1-33-v1', namespace: 'platform' };
    const refusals: string[] = [];
    for (const rule of installedRules(() => server.local, new ManualClock())) {
      if (!rule.operations.includes('CREATE') || !rule.concerns(definition)) continue;
      await rule
        .validate?.({
          operation: 'CREATE',
          definition,
          namespace: 'team',
          name: 'curious',
          user: { name: 'tenant', uid: '', groups: [] },
          dryRun: false,
          object: {
            apiVersion: 'cluster.x-k8s.io/v1beta2',
            kind: 'Cluster',
            metadata: { namespace: 'team', name: 'curious' },
            spec: { topology: { classRef, version: 'v1.33.5' } },
          },
          oldObject: undefined,
          warn: () => {},
        })
        .catch((error: unknown) => refusals.push(String(error)));
    }
    // The user sees the first one.
    expect(refusals[0]).toContain('no ReferenceGrant there lets Cluster objects');
    expect(refusals[0]).not.toContain('v1.33.6');
  });
});
