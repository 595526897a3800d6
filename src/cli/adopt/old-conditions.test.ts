import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtinDefinitions, OpenStackFloatingIPPools, OpenStackServers, ownDefinitions } from '../../api/index.ts';
import { startTestServer, type TestServer } from '../../apiserver/testing/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';

const by = { fieldManager: 'test' };
const identityRef = { name: 'clouds', cloudName: 'openstack' };
const server = { identityRef, sshKeyName: '', flavor: 'm1', image: { filter: { name: 'i' } }, ports: [] };
const pool = { identityRef, reclaimPolicy: 'Delete' };

// The OpenStack provider up to 0.14 wrote conditions that hold without reason and message, in the same API version.
describe('status of objects of older releases', () => {
  let api: TestServer;
  beforeAll(async () => {
    api = await startTestServer({ definitions: [...builtinDefinitions, ...ownDefinitions] });
  });
  afterAll(() => api?.stop());

  it.each<[string, Resource<KubeObject>, object]>([
    ['OpenStackServer', OpenStackServers, server],
    ['OpenStackFloatingIPPool', OpenStackFloatingIPPools, pool],
  ])('can be written after an adoption: %s', async (kind, resource, spec) => {
    const key = { namespace: 'default', name: 'old' };
    const apiVersion = 'infrastructure.cluster.x-k8s.io/v1alpha1';
    const object: KubeObject & { spec: object } = { apiVersion, kind, metadata: key, spec };
    await api.local.create(resource, object, by);
    const held = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const status = { conditions: [held] };
    const written = await api.local.patch(resource, key, 'merge', { status }, { ...by, subresource: 'status' });
    expect(written).toMatchObject({ status: { conditions: [held] } });
  });
});
