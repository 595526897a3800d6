import { expect, it } from 'vitest';
import type { Answer } from '../testing/connection.ts';
import { at, crd, crdVersion, eventually, mergePatch, onTargets, targets, widget } from '../testing/index.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

onTargets(targets, (on) => {
  async function define(versions: object[]): Promise<{ group: string; widgets(version: string): string }> {
    const { api, namespace, unique, cleanUp } = on();
    const group = `${unique('filled')}.example.com`;
    cleanUp(`${crds}/widgets.${group}`);
    await api.create(crds, crd({ group, versions }));
    const { of } = await namespace();
    return { group, widgets: (version) => of(`${group}/${version}`, 'widgets') };
  }

  /** A real server serves a definition shortly after its creation. */
  const createWhenServed = (path: string, object: object): Promise<Answer> =>
    eventually(async () => {
      const answer = await on().api.post(path, object);
      return answer.status === 404 ? undefined : answer;
    });

  it('a default of status is set on creation without an owner', async () => {
    const status = {
      type: 'object',
      default: { phase: 'Pending' },
      properties: { phase: { type: 'string' }, step: { type: 'integer', default: 1 } },
    };
    const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object' }, status } };
    const version = { schema: { openAPIV3Schema } };
    const { group, widgets } = await define([crdVersion('v1', version)]);
    const sent = { ...widget(group, 'w'), status: { phase: 'Done' } };
    const created = await createWhenServed(widgets('v1'), sent);
    expect(created.object.status).toEqual({ phase: 'Pending', step: 1 });
    expect(JSON.stringify(created.object.metadata.managedFields)).not.toContain('f:status');
    const path = `${widgets('v1')}/w`;
    expect((await on().api.get(path)).object.status).toEqual({ phase: 'Pending', step: 1 });
    const patched = await on().api.patch(`${path}/status`, mergePatch, { status: { phase: 'Done' } });
    expect(patched.object.status).toEqual({ phase: 'Done', step: 1 });
  });

  it('fields that a version lacks are neither shown nor kept, and storage defaults fill them in', async () => {
    const first = { storage: false, properties: { old: { type: 'string', default: 'o' } } };
    const { group, widgets } = await define([
      crdVersion('v1', first),
      crdVersion('v2', { properties: { added: { type: 'string', default: 'a' } } }),
    ]);
    const created = await createWhenServed(widgets('v2'), widget(group, 'w', { size: 'L', added: 'x' }, {}, 'v2'));
    expect(created.object.spec).toEqual({ size: 'L', added: 'x' });
    const { api } = on();
    // A read applies no defaults of the version that it reads.
    expect((await api.get(`${widgets('v1')}/w`)).object.spec).toEqual({ size: 'L' });
    expect((await api.get(widgets('v1'))).items[0]?.spec).toEqual({ size: 'L' });
    const patched = await api.patch(`${widgets('v1')}/w`, mergePatch, { spec: { size: 'M' } });
    expect(patched.warnings).toEqual([]);
    expect(at(patched.body, 'metadata.generation')).toBe(2);
    expect((await api.get(`${widgets('v2')}/w`)).object.spec).toEqual({ size: 'M', added: 'a' });
  });
});
