import { expect, it } from 'vitest';
import { at, crd, eventually, mergePatch, onTargets, targets, widget } from '../testing/index.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const cleanup = 'customresourcecleanup.apiextensions.k8s.io';

onTargets(targets, (on) => {
  it('a deleted definition keeps its finalizer until the last of its objects is gone', async () => {
    const { api, namespace, unique, cleanUp } = on();
    const group = `${unique('going')}.example.com`;
    const path = `${crds}/widgets.${group}`;
    cleanUp(path);
    await api.create(crds, crd({ group }));
    const { of } = await namespace();
    const widgets = of(`${group}/v1`, 'widgets');
    const held = widget(group, 'held', {}, { finalizers: ['example.com/hold'] });
    await eventually(async () => ((await api.post(widgets, held)).status === 201 ? true : undefined));
    await api.create(widgets, widget(group, 'free'));

    const before = await api.get(path);
    expect(before.object.metadata).not.toHaveProperty('finalizers');
    // An update without finalizers, as sent by programs that install definitions.
    const { resourceVersion } = before.object.metadata;
    const replacement = crd({ group });
    const replaced = await api.put(path, { ...replacement, metadata: { ...replacement.metadata, resourceVersion } });
    expect(replaced.status).toBe(200);

    expect((await api.delete(path)).status).toBe(200);
    expect((await api.get(path)).object.metadata.finalizers).toEqual([cleanup]);
    await eventually(async () => ((await api.get(`${widgets}/free`)).status === 404 ? true : undefined));
    expect((await api.post(widgets, widget(group, 'late'))).status).not.toBe(201);
    expect(at((await api.get(`${widgets}/held`)).body, 'metadata.deletionTimestamp')).toBeDefined();

    await api.patch(`${widgets}/held`, mergePatch, { metadata: { finalizers: null } });
    await eventually(async () => ((await api.get(path)).status === 404 ? true : undefined));
    expect((await api.get(widgets)).status).toBe(404);
  });
});
