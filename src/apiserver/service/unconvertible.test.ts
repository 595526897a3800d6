import { expect, it } from 'vitest';
import { crd, crdVersion, eventually, onTargets, targets, widget } from '../testing/index.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

onTargets(targets, (on) => {
  it('an invalid object is refused by its schema even when its conversion webhook cannot be reached', async () => {
    const { api, namespace, unique, cleanUp } = on();
    const group = `${unique('stuck')}.example.com`;
    cleanUp(`${crds}/widgets.${group}`);
    const webhook = { clientConfig: { url: 'https://127.0.0.1:1/convert' }, conversionReviewVersions: ['v1'] };
    const first = { storage: false };
    const versions = [crdVersion('v1', first), crdVersion('v2')];
    await api.create(crds, crd({ group, versions, conversion: { strategy: 'Webhook', webhook } }));
    const { of } = await namespace();
    const post = (spec: object): ReturnType<typeof api.post> =>
      eventually(async () => {
        const answer = await api.post(of(`${group}/v1`, 'widgets'), widget(group, 'w', spec));
        return answer.status === 404 ? undefined : answer;
      });
    const invalid = await post({ replicas: 'many' });
    expect(invalid.status).toBe(422);
    expect(invalid.body['message']).toContain('spec.replicas in body must be of type integer');
    const valid = await post({ replicas: 1 });
    expect(valid.status).toBe(500);
    expect(valid.body['message']).toContain(`conversion webhook for ${group}/v1, Kind=Widget failed`);
  });
});
