import { describe, expect, it } from 'vitest';
import { at, onTargets, targets } from '../testing/index.ts';

const classes = '/apis/networking.k8s.io/v1/ingressclasses';

onTargets(targets, (on) => {
  describe('an Ingress that names no class', () => {
    it('gets the default class, the first by name among those of the same age', async () => {
      const { api, namespace, unique, cleanUp } = on();
      const path = (await namespace()).of('networking.k8s.io/v1', 'ingresses');
      const prefix = unique('class');
      for (const end of ['b', 'a']) {
        const name = `${prefix}-${end}`;
        const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' };
        const body = { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', metadata: { name, annotations } };
        await api.create(classes, { ...body, spec: { controller: 'example.com/none' } });
        cleanUp(`${classes}/${name}`);
      }
      const ingress = (name: string, metadata: object = {}, spec: object = {}): object => ({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'Ingress',
        metadata: { name, ...metadata },
        spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, ...spec },
      });
      const made = await api.post(path, ingress('open'));
      expect(made.status).toBe(201);
      expect(at(made.body, 'spec.ingressClassName')).toMatch(new RegExp(`^${prefix}-[ab]$`));
      const named = await api.post(path, ingress('named', {}, { ingressClassName: 'other' }));
      expect(at(named.body, 'spec.ingressClassName')).toBe('other');
      const legacy = await api.post(path, ingress('old', { annotations: { 'kubernetes.io/ingress.class': 'x' } }));
      expect(at(legacy.body, 'spec.ingressClassName')).toBeUndefined();
    });
  });
});
