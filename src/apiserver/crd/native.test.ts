import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asTyped, type JsonObject, type KubeObject } from '../../machinery/index.ts';
import { type Api, mergePatch, startTestServer, type TestServer } from '../testing/index.ts';

const name = 'openstackclusters.infrastructure.cluster.x-k8s.io';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const path = `${crds}/${name}`;

interface Definition {
  metadata: JsonObject;
  spec: JsonObject;
  status: JsonObject;
}

/**
 * A definition as another program would install it: other versions, another storage version, and a webhook that does
 * not exist here.
 */
function foreign(): JsonObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const service = { namespace: 'elsewhere', name: 'webhook-service', path: '/convert' };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name,
      labels: { 'cluster.x-k8s.io/v1beta1': 'v1alpha1_v1beta1', theirs: 'yes' },
      annotations: { 'cert-manager.io/inject-ca-from': 'elsewhere/serving-cert' },
    },
    spec: {
      group: 'infrastructure.cluster.x-k8s.io',
      names: { kind: 'OpenStackCluster', plural: 'openstackclusters' },
      scope: 'Namespaced',
      versions: [{ name: 'v1beta1', served: true, storage: true, schema }],
      conversion: { strategy: 'Webhook', webhook: { clientConfig: { service }, conversionReviewVersions: ['v1'] } },
    },
  };
}

describe('the definition of a compiled-in kind', () => {
  let server: TestServer;
  let api: Api;
  let published: Definition;
  const read = async (): Promise<Definition> => asTyped<Definition>((await api.get(path)).body);

  beforeAll(async () => {
    server = await startTestServer({ ownKinds: true });
    api = server.api();
    published = await read();
  });
  afterAll(() => server?.stop());

  it('is published with labels and a spec without field owners', () => {
    const { labels, managedFields } = published.metadata;
    expect(labels).toMatchObject({ 'clusterctl.cluster.x-k8s.io': '', 'cluster.x-k8s.io/v1beta1': 'v1beta1' });
    expect(JSON.stringify(managedFields)).not.toMatch(/f:spec|f:labels/);
    expect(published.status['storedVersions']).toEqual(['v1beta2']);
  });

  it.each([
    ['a merge patch', () => api.patch(path, mergePatch, foreign())],
    ['server-side apply without force', () => api.apply(`${path}?fieldManager=theirs`, foreign())],
    [
      'a replacement',
      async () => {
        const { resourceVersion } = (await read()).metadata;
        const body = foreign();
        return api.put(path, { ...body, metadata: { ...(body['metadata'] as JsonObject), resourceVersion } });
      },
    ],
  ])('keeps its spec under %s, which may change metadata', async (_how, write) => {
    const answer = await write();
    expect(answer.status).toBe(200);
    expect(answer.warnings.join()).toContain(`${name} is built into this server`);
    const now = await read();
    expect(now.spec).toEqual(published.spec);
    expect(now.status).toEqual(published.status);
    expect(now.metadata).toMatchObject({
      generation: published.metadata['generation'],
      labels: { ...(published.metadata['labels'] as object), theirs: 'yes' },
      annotations: { 'cert-manager.io/inject-ca-from': 'elsewhere/serving-cert' },
    });
  });

  it('accepts new labels without a warning', async () => {
    const answer = await api.patch(path, mergePatch, { metadata: { labels: { mine: 'too' } } });
    expect(answer.status).toBe(200);
    expect(answer.warnings).toEqual([]);
  });

  it('is not deleted while objects of it exist', async () => {
    const clusters = '/apis/infrastructure.cluster.x-k8s.io/v1beta2/namespaces/default/openstackclusters';
    await api.create(clusters, {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
      kind: 'OpenStackCluster',
      metadata: { name: 'c' },
      spec: { identityRef: { name: 'cloud', cloudName: 'openstack' } },
    } as KubeObject);
    const answer = await api.delete(path);
    expect(answer.status).toBe(403);
    expect(answer.body['message']).toBe(
      `customresourcedefinitions.apiextensions.k8s.io "${name}" is forbidden: this definition is built into the server and one object of it exists`,
    );
    expect((await read()).metadata).not.toHaveProperty('deletionTimestamp');
    await api.delete(`${clusters}/c`);
  });

  it('is published again at once when it is deleted without objects', async () => {
    const watch = await api.watch(`${crds}?watch=true&fieldSelector=metadata.name=${name}`);
    expect((await api.delete(path)).status).toBe(200);
    const events = await watch.until(
      ({ type, object }) => type === 'MODIFIED' && JSON.stringify(object.status).includes('"Established"'),
    );
    watch.close();
    expect(events.map(({ type }) => type)).toContain('DELETED');
    const { metadata, spec } = await read();
    expect(spec).toEqual(published.spec);
    expect(metadata['uid']).not.toBe(published.metadata['uid']);
    expect((await api.get('/apis/infrastructure.cluster.x-k8s.io/v1beta2/openstackclusters')).status).toBe(200);
  });
});
