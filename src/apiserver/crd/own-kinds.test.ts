import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ownDefinitions } from '../../api/index.ts';
import { asJson, asTyped, parseApiVersion, type UnstructuredObject } from '../../machinery/index.ts';
import { type Api, mergePatch, startTestServer, type TestServer } from '../testing/index.ts';

// Our kinds as the API server serves them. Manifests use the common orders and versions.

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

function documents(name: string): UnstructuredObject[] {
  const file = fileURLToPath(new URL(`../../api/testdata/${name}.yaml`, import.meta.url));
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as UnstructuredObject);
}

function pathOf(kind: string, version: string, namespace = 'default'): string {
  const { group, plural, namespaced } = ownDefinitions.find((definition) => definition.kind === kind)!;
  return `/apis/${group}/${version}/${namespaced ? `namespaces/${namespace}/` : ''}${plural}`;
}

describe('the API server with our kinds', () => {
  let server: TestServer;
  let api: Api;

  beforeAll(async () => {
    server = await startTestServer({ ownKinds: true });
    api = server.api();
  });
  afterAll(() => server?.stop());

  it.each(['kubeadm-v1alpha3', 'kubeadm-v1beta1'])('creates the objects of %s one by one', async (name) => {
    for (const object of documents(name)) {
      const { version } = parseApiVersion(object.apiVersion);
      const answer = await api.post(pathOf(object.kind, version), object);
      expect(answer.body, object.kind).toMatchObject({ metadata: { name: object.metadata.name } });
      expect(answer.status).toBe(201);
    }
  });

  it('shows a control plane written in v1beta1 in every version', async () => {
    const columns: Record<string, string[]> = {};
    for (const version of ['v1beta2', 'v1beta1', 'v1alpha4', 'v1alpha3']) {
      const path = `${pathOf('KubeadmControlPlane', version)}/harbour-control-plane`;
      const { body } = await api.get(path, { accept: table });
      const { columnDefinitions, rows } = asTyped<{
        columnDefinitions: { name: string }[];
        rows: { cells: unknown[] }[];
      }>(body);
      columns[version] = columnDefinitions.map(({ name }) => name);
      expect(rows[0]!.cells[0]).toBe('harbour-control-plane');
      expect(rows[0]!.cells.at(-1)).toBe('v1.32.4');
    }
    expect(columns['v1beta2']).toContain('Up-to-date');
    expect(columns['v1beta1']).toContain('API Server Available');
  });

  it('scales a control plane, but refuses an even number with stacked etcd', async () => {
    const path = `${pathOf('KubeadmControlPlane', 'v1beta2')}/harbour-control-plane/scale`;
    const even = await api.patch(path, mergePatch, { spec: { replicas: 2 } });
    expect(even.status).toBe(422);
    expect(JSON.stringify(even.body)).toContain('cannot be an even number when etcd is stacked');
    const odd = await api.patch(path, mergePatch, { spec: { replicas: 5 } });
    expect(odd.status).toBe(200);
    expect(odd.body).toMatchObject({ spec: { replicas: 5 } });
  });

  it('keeps a control plane unchanged when it refuses an update in any version', async () => {
    const path = `${pathOf('KubeadmControlPlane', 'v1beta1')}/harbour-control-plane`;
    const before = (await api.get(path)).body;
    const answer = await api.patch(path, mergePatch, { spec: { version: 'v1.34.0' } });
    expect(answer.status).toBe(422);
    expect(JSON.stringify(answer.body)).toContain('minor versions cannot be skipped');
    expect((await api.get(path)).body).toEqual(before);
  });

  it('refuses an unknown field under strict validation and names it', async () => {
    const [first] = documents('kubeadm-v1beta1').filter(({ kind }) => kind === 'KubeadmConfigTemplate');
    const object = { ...first!, metadata: { name: 'typo', namespace: 'default' } } as UnstructuredObject;
    object.spec = { template: { spec: { preKubeAdmCommands: ['x'] } } };
    const answer = await api.post(`${pathOf(object.kind, 'v1beta1')}?fieldValidation=Strict`, object);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain('spec.template.spec.preKubeAdmCommands');
  });

  it('stores the inventory of clusterctl, which has neither spec nor status', async () => {
    const provider = {
      apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
      kind: 'Provider',
      metadata: { name: 'infrastructure-openstack', namespace: 'default' },
      providerName: 'openstack',
      type: 'InfrastructureProvider',
      version: 'v0.15.0',
    };
    const path = pathOf('Provider', 'v1alpha3');
    expect((await api.post(path, provider)).status).toBe(201);
    expect((await api.get(`${path}/infrastructure-openstack`)).body).toMatchObject(asJson(provider));
    const changed = await api.patch(`${path}/infrastructure-openstack`, mergePatch, { version: 'v0.16.0' });
    expect(changed.body).toMatchObject({ version: 'v0.16.0', metadata: { generation: 2 } });
  });

  it('stores identities without a namespace', async () => {
    const identity = {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
      kind: 'OpenStackClusterIdentity',
      metadata: { name: 'shared' },
      spec: { secretRef: { name: 'clouds', namespace: 'default' } },
    };
    expect((await api.post(pathOf(identity.kind, 'v1alpha1'), identity)).status).toBe(201);
  });

  it.each(ownDefinitions.map(({ kind, plural, group }) => ({ kind, name: `${plural}.${group}` })))(
    'publishes the definition of $kind with the condition Established',
    async ({ name }) => {
      const answer = await api.get(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`);
      const { status } = asTyped<{ status: { conditions: { type: string; status: string }[] } }>(answer.body);
      const established = status.conditions.find(({ type }) => type === 'Established');
      expect(established?.status).toBe('True');
    },
  );
});
