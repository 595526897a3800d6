import { describe, expect, it } from 'vitest';
import { configMap, onTargets, type Protocol, targets } from '../testing/index.ts';

const protocols: Protocol[] = ['h1', 'h2'];
const deleteOptions = { apiVersion: 'v1', kind: 'DeleteOptions' };

onTargets(targets, (on, { real }) => {
  describe.each(protocols)('the deprecated watch paths over %s', (protocol) => {
    it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'])('%s is answered 405 and changes nothing', async (method) => {
      const api = on().connect(protocol);
      const ns = await on().namespace();
      await api.create(ns.core('configmaps'), configMap('kept'));
      const collection = `/api/v1/watch/namespaces/${ns.name}/configmaps`;
      const body = method === 'HEAD' ? undefined : deleteOptions;
      for (const path of [
        collection,
        `${collection}/kept`,
        `${collection}/kept?dryRun=All`,
        '/api/v1/watch/namespaces/default',
        '/api/v1/watch/configmaps',
      ]) {
        expect((await api.request(method, path, body)).status, path).toBe(405);
      }
      expect((await api.get(`${ns.core('configmaps')}/kept`)).status).toBe(200);
    });

    it('are not served for subresources', async () => {
      const api = on().connect(protocol);
      for (const method of ['GET', 'POST', 'PUT']) {
        const path = '/api/v1/watch/namespaces/default/status';
        const answer = await api.request(method, path, method === 'GET' ? undefined : {});
        expect([404, 405]).toContain(answer.status);
      }
    });
  });

  describe.each(protocols)('methods over %s', (protocol) => {
    it.each(['HEAD', 'OPTIONS', 'TRACE'])('%s is answered 405 on resources', async (method) => {
      const api = on().connect(protocol);
      for (const path of ['/api/v1/namespaces', '/api/v1/namespaces/default', '/api/v1/namespaces?watch=true']) {
        expect((await api.request(method, path)).status, path).toBe(405);
      }
    });

    it('GET of one object with watch=true returns the object', async () => {
      const api = on().connect(protocol);
      const answer = await api.get('/api/v1/namespaces/default?watch=true');
      expect(answer.status).toBe(200);
      expect(answer.object.kind).toBe('Namespace');
    });
  });

  describe.skipIf(real)('a role limited to one object', () => {
    it('grants access to no other object by any method or path', async () => {
      const { api, ours } = on();
      const ns = await on().namespace();
      for (const name of ['mine', 'other']) await api.create(ns.core('secrets'), secret(name));
      await api.create(ns.of('rbac.authorization.k8s.io/v1', 'roles'), {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'one' },
        rules: [{ apiGroups: [''], resources: ['secrets'], resourceNames: ['mine'], verbs: ['*'] }],
      } as never);
      await api.create(ns.of('rbac.authorization.k8s.io/v1', 'rolebindings'), {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'one' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one' },
        subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'narrow' }],
      } as never);
      const narrow = await ours!.as('narrow');
      const plain = ns.core('secrets');
      const watched = `/api/v1/watch/namespaces/${ns.name}/secrets`;
      const selecting = 'fieldSelector=metadata.name%3Dmine';
      const forms = [plain, `${plain}/mine`, `${plain}/other`, watched, `${watched}/mine`, `${watched}/other`];
      for (const form of forms) {
        for (const query of ['', `?${selecting}`, '?watch=0', '?dryRun=All', `?dryRun=All&${selecting}`]) {
          for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
            if (method === 'GET' && form.startsWith(watched)) continue;
            if (method === 'DELETE' && form === `${plain}/mine` && !query.includes('dryRun')) continue;
            const body = method === 'POST' || method === 'PUT' ? secret('mine') : undefined;
            const answer = await narrow.request(method, form + query, body);
            expect(answer.text, `${method} ${form}${query}`).not.toContain('value-of-other');
          }
        }
      }
      const left = (await api.get(plain)).items.map(({ metadata }) => metadata.name);
      expect(left).toEqual(['mine', 'other']);
    });
  });
});

function secret(name: string) {
  const data = { text: Buffer.from(`value-of-${name}`).toString('base64'), plain: 'dmFsdWU=' };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, labels: { was: `value-of-${name}` } }, data };
}
