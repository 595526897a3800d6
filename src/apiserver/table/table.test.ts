import { describe, expect, it } from 'vitest';
import { asTyped, type JsonObject, ManualClock } from '../../machinery/index.ts';
import {
  type Api,
  at,
  configMap,
  crd,
  deployment,
  onTargets,
  pod,
  startTestServer,
  targets,
  widget,
} from '../testing/index.ts';

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const kubectlAccept = `${table},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`;
const asTable = { accept: kubectlAccept };
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Table {
  columnDefinitions: { name: string; type: string; format: string; priority: number }[];
  rows: { cells: unknown[]; object: JsonObject | null }[];
}

async function getTable(api: Api, path: string): Promise<Table> {
  const answer = await api.get(path, asTable);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
  return asTyped<Table>(answer.body);
}

const columns = (document: Table): string[] => document.columnDefinitions.map(({ name }) => name);
const wide = (document: Table): string[] =>
  document.columnDefinitions.filter(({ priority }) => priority > 0).map(({ name }) => name);

onTargets(targets, (on) => {
  describe('Table', () => {
    it('of a list has columns, one row per object and the revision of the list', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(ns.core('pods'), pod('b'));
      await api.create(ns.core('pods'), pod('a'));
      const answer = await api.get(ns.core('pods'), asTable);
      expect(answer.header('content-type')).toBe('application/json');
      const document = asTyped<Table>(answer.body);
      expect(columns(document).slice(0, 5)).toEqual(['Name', 'Ready', 'Status', 'Restarts', 'Age']);
      expect(document.rows.map(({ cells }) => cells.slice(0, 4))).toEqual([
        ['a', '0/1', 'Pending', '0'],
        ['b', '0/1', 'Pending', '0'],
      ]);
      expect(at(answer.body, 'metadata.resourceVersion')).toMatch(/^\d+$/);
    });

    it('of an empty list has the columns of the kind and no rows', async () => {
      const { api, namespace } = on();
      const document = await getTable(api, (await namespace()).core('secrets'));
      expect(columns(document)).toEqual(['Name', 'Type', 'Data', 'Age']);
      expect(document.rows).toEqual([]);
    });

    it('of one object has one row', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(ns.core('configmaps'), configMap('one', { data: { a: '1', b: '2' } }));
      const document = await getTable(api, `${ns.core('configmaps')}/one`);
      expect(columns(document)).toEqual(['Name', 'Data', 'Age']);
      expect(document.rows.map(({ cells }) => cells.slice(0, 2))).toEqual([['one', 2]]);
    });

    it('of a scale shows desired and present replicas', async () => {
      const { api, namespace } = on();
      const path = (await namespace()).of('apps/v1', 'replicasets');
      await api.create(path, { ...deployment('r', { spec: { replicas: 0 } }), kind: 'ReplicaSet' });
      const document = await getTable(api, `${path}/r/scale`);
      expect(columns(document)).toEqual(['Name', 'Desired', 'Available', 'Age']);
      expect(document.rows.map(({ cells }) => cells.slice(0, 3))).toEqual([['r', 0, 0]]);
    });

    it('has the first column Name with the format name', async () => {
      const document = await getTable(on().api, '/api/v1/namespaces');
      expect(document.columnDefinitions[0]).toMatchObject({
        name: 'Name',
        type: 'string',
        format: 'name',
        priority: 0,
      });
    });

    it('gives wide columns a priority above zero', async () => {
      const document = await getTable(on().api, '/api/v1/pods');
      expect(wide(document)).toEqual(['IP', 'Node', 'Nominated Node', 'Readiness Gates']);
    });

    it.each([
      ['', 'PartialObjectMetadata'],
      ['?includeObject=Metadata', 'PartialObjectMetadata'],
      ['?includeObject=Object', 'ConfigMap'],
      ['?includeObject=None', undefined],
    ])('has rows for %j with %s', async (query, kind) => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(ns.core('configmaps'), configMap('row', { data: { a: '1' } }));
      const document = await getTable(api, `${ns.core('configmaps')}${query}`);
      const row = document.rows.find(({ cells }) => cells[0] === 'row')!;
      expect(row.object?.['kind']).toBe(kind);
      expect(at(row.object, 'data.a')).toBe(kind === 'ConfigMap' ? '1' : undefined);
    });

    it('is answered 400 for an unknown includeObject', async () => {
      const answer = await on().api.get('/api/v1/namespaces?includeObject=Everything', asTable);
      expect(answer.status).toBe(400);
    });

    it('is paged like any list', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      for (const name of ['a', 'b', 'c']) await api.create(ns.core('secrets'), { ...configMap(name), kind: 'Secret' });
      const first = (await api.get(`${ns.core('secrets')}?limit=2`, asTable)).body;
      expect(asTyped<Table>(first).rows.map(({ cells }) => cells[0])).toEqual(['a', 'b']);
      expect(at(first, 'metadata.remainingItemCount')).toBe(1);
      const token = encodeURIComponent(String(at(first, 'metadata.continue')));
      const second = await getTable(api, `${ns.core('secrets')}?limit=2&continue=${token}`);
      expect(second.rows.map(({ cells }) => cells[0])).toEqual(['c']);
    });

    it('is not used for failures, which stay a Status', async () => {
      const answer = await on().api.get('/api/v1/namespaces/no-such-namespace', asTable);
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ kind: 'Status', reason: 'NotFound' });
    });
  });

  describe('Table watch', () => {
    it('sends columns with the first event only', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      await api.create(ns.core('secrets'), { ...configMap('a'), kind: 'Secret' });
      const watch = await api.watch(`${ns.core('secrets')}?watch=true`, asTable);
      const [first] = await watch.take(1);
      await api.create(ns.core('secrets'), { ...configMap('b'), kind: 'Secret' });
      await api.delete(`${ns.core('secrets')}/a`);
      const [second, third] = await watch.take(2);
      watch.close();
      expect(first).toMatchObject({ type: 'ADDED', object: { kind: 'Table', apiVersion: 'meta.k8s.io/v1' } });
      expect(columns(asTyped<Table>(first!.object))).toEqual(['Name', 'Type', 'Data', 'Age']);
      expect(second).toMatchObject({
        type: 'ADDED',
        object: { rows: [{ cells: ['b', 'Opaque', 0, expect.anything()] }] },
      });
      expect(third).toMatchObject({
        type: 'DELETED',
        object: { rows: [{ cells: ['a', 'Opaque', 0, expect.anything()] }] },
      });
      expect(at(second!.object, 'columnDefinitions')).toBeNull();
      expect(at(third!.object, 'columnDefinitions')).toBeNull();
    });

    it('sends rows whose metadata has the revision of the event', async () => {
      const { api, namespace } = on();
      const ns = await namespace();
      const watch = await api.watch(`${ns.core('secrets')}?watch=true`, asTable);
      const made = await api.create(ns.core('secrets'), { ...configMap('a'), kind: 'Secret' });
      const [event] = await watch.take(1);
      watch.close();
      const { resourceVersion } = made.object.metadata;
      expect(at(event!.object, 'rows.0.object')).toMatchObject({
        kind: 'PartialObjectMetadata',
        metadata: { name: 'a', resourceVersion },
      });
    });
  });

  describe('Table of custom kinds', () => {
    const define = async (version: object): Promise<{ path: string; group: string }> => {
      const target = on();
      const group = `${target.unique('table')}.example.com`;
      await target.api.create(crds, crd({ group, version }));
      target.cleanUp(`${crds}/widgets.${group}`);
      const ns = await target.namespace();
      const path = ns.of(`${group}/v1`, 'widgets');
      while ((await target.api.get(path)).status !== 200);
      return { path, group };
    };

    it('shows Name and Age when the definition has no columns', async () => {
      const { path, group } = await define({});
      await on().api.create(path, widget(group, 'plain'));
      const document = await getTable(on().api, path);
      expect(columns(document)).toEqual(['Name', 'Age']);
      expect(document.rows[0]!.cells[0]).toBe('plain');
    });

    it('shows its printer columns after Name, and Age only when it is one of them', async () => {
      const { path, group } = await define({
        additionalPrinterColumns: [
          { name: 'Size', type: 'string', jsonPath: '.spec.size' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas', priority: 1, description: 'How many.' },
          { name: 'Missing', type: 'string', jsonPath: '.spec.nothing' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Since', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      });
      await on().api.create(path, widget(group, 'shown', { size: 'large', replicas: 3 }));
      const status = { status: { conditions: [{ type: 'Ready', status: 'True' }] } };
      await on().api.patch(`${path}/shown/status`, 'application/merge-patch+json', status);
      const document = await getTable(on().api, path);
      expect(columns(document)).toEqual(['Name', 'Size', 'Replicas', 'Missing', 'Ready', 'Since']);
      expect(wide(document)).toEqual(['Replicas']);
      expect(document.rows[0]!.cells).toEqual(['shown', 'large', 3, null, 'True', expect.stringMatching(/^\d+s$/)]);
    });
  });
});

describe('cells of type date', () => {
  it('are printed as age', async () => {
    const clock = new ManualClock(Date.now());
    const server = await startTestServer({ clock });
    const api = server.api();
    await api.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'old' } });
    await clock.advance(3 * 86_400_000 + 5000);
    const document = await getTable(api, '/api/v1/namespaces/old');
    await server.stop();
    expect(document.rows[0]!.cells).toEqual(['old', 'Active', '3d']);
  });
});
