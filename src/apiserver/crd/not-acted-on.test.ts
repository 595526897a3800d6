import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, mergePatch, startTestServer, type TestServer } from '../testing/index.ts';

const warning = (text: string): string => `299 - "${text}"`;
const ofClasses =
  'it is stored and nothing else happens. Cluster topologies are not built yet. Write the objects that the class would make.';

describe('what is served and not acted on', () => {
  let server: TestServer;
  let api: Api;

  beforeAll(async () => {
    server = await startTestServer({ ownKinds: true });
    api = server.api();
  });
  afterAll(() => server?.stop());

  it('is warned of when it is created and when it is changed', async () => {
    const path = '/apis/infrastructure.cluster.x-k8s.io/v1beta2/namespaces/default/openstackclustertemplates';
    const identityRef = { name: 'cloud', cloudName: 'openstack' };
    const template = {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
      kind: 'OpenStackClusterTemplate',
      metadata: { name: 'a' },
      spec: { template: { spec: { identityRef } } },
    };
    const expected = [warning(`no controller acts on OpenStackClusterTemplate: ${ofClasses}`)];
    const created = await api.post(path, template);
    expect([created.status, created.warnings]).toEqual([201, expected]);
    const changed = await api.patch(`${path}/a`, mergePatch, { metadata: { labels: { a: 'b' } } });
    expect([changed.status, changed.warnings]).toEqual([200, expected]);
    expect((await api.get(`${path}/a`)).warnings).toEqual([]);
  });

  it('is warned of where it is a part of an object that is acted on', async () => {
    const path = '/apis/cluster.x-k8s.io/v1beta2/namespaces/default/clusters';
    const cluster = (name: string, spec: object): object => ({
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name },
      spec,
    });
    const reference = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'OpenStackCluster', name: 'a' };
    expect((await api.post(path, cluster('plain', { infrastructureRef: reference }))).warnings).toEqual([]);
    const topology = { classRef: { name: 'small' }, version: 'v1.34.0' };
    const answer = await api.post(path, cluster('by-class', { topology }));
    expect(answer.warnings).toEqual([warning(`no controller acts on spec.topology of Cluster: ${ofClasses}`)]);
  });

  it('is warned of in the words of a definition that somebody brought', async () => {
    const group = 'things.example.com';
    await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `pools.${group}`, annotations: { 'capstan.dev/write-warning': 'nothing happens' } },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind: 'Pool', plural: 'pools' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    });
    const path = `/apis/${group}/v1/namespaces/default/pools`;
    await expect.poll(async () => (await api.get(path)).status).toBe(200);
    const answer = await api.post(path, { apiVersion: `${group}/v1`, kind: 'Pool', metadata: { name: 'a' } });
    expect([answer.status, answer.warnings]).toEqual([201, [warning('nothing happens')]]);
  });
});
