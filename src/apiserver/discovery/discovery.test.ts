import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../machinery/index.ts';
import { onTargets, targets } from '../testing/index.ts';

const aggregated = (version: string, more = ''): string =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList${more}`;
const kubectlAccept = `${aggregated('v2')},${aggregated('v2beta1')},application/json`;

function objects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function findResource(document: JsonObject, group: string, version: string, plural: string): JsonObject | undefined {
  const found = objects(document['items']).find((item) => ((item['metadata'] as JsonObject)['name'] ?? '') === group);
  const inVersion = objects(found?.['versions']).find((item) => item['version'] === version);
  return objects(inVersion?.['resources']).find((item) => item['resource'] === plural);
}

onTargets(targets, (on, { real }) => {
  describe('aggregated discovery', () => {
    it.each(['/api', '/apis'])('%s answers in the newest form that the client accepts and names it', async (path) => {
      const answer = await on().api.get(path, { accept: kubectlAccept });
      expect(answer.status).toBe(200);
      expect(answer.header('content-type')).toBe(aggregated('v2'));
      expect(answer.header('vary')).toBe('Accept');
      expect(answer.body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    });

    it.skipIf(real)('older clients get v2beta1, which kube-apiserver 1.34 no longer has', async () => {
      const answer = await on().api.get('/apis', { accept: `${aggregated('v2beta1')},application/json` });
      expect(answer.header('content-type')).toBe(aggregated('v2beta1'));
      expect(answer.body).toMatchObject({ apiVersion: 'apidiscovery.k8s.io/v2beta1' });
    });

    it('clients that send a profile parameter get the same document', async () => {
      const answer = await on().api.get('/apis', { accept: `${aggregated('v2', ';profile=nopeer')},${kubectlAccept}` });
      expect(answer.status).toBe(200);
      expect(answer.header('content-type')).toMatch(
        /^application\/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList/,
      );
      expect(answer.body).toMatchObject({ kind: 'APIGroupDiscoveryList' });
    });

    it('a matching ETag is answered 304 without a body', async () => {
      const first = await on().api.get('/apis', { accept: kubectlAccept });
      const etag = first.header('etag')!;
      expect(etag).toMatch(/^"[0-9A-F]+"$/);
      const again = await on().api.get('/apis', { accept: kubectlAccept, 'if-none-match': etag });
      expect(again.status).toBe(304);
      expect(again.bytes.length).toBe(0);
    });

    it('each resource is listed with its names, scope, verbs, short names and categories', async () => {
      const core = (await on().api.get('/api', { accept: kubectlAccept })).body;
      expect(findResource(core, '', 'v1', 'pods')).toMatchObject({
        resource: 'pods',
        responseKind: { kind: 'Pod' },
        scope: 'Namespaced',
        singularResource: 'pod',
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        shortNames: ['po'],
        categories: ['all'],
      });
      expect(findResource(core, '', 'v1', 'nodes')).toMatchObject({ scope: 'Cluster', shortNames: ['no'] });
    });

    it('subresources list the kind they answer with, such as autoscaling/v1 Scale', async () => {
      const document = (await on().api.get('/apis', { accept: kubectlAccept })).body;
      expect(findResource(document, 'apps', 'v1', 'deployments')).toMatchObject({
        subresources: [
          {
            subresource: 'scale',
            responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
            verbs: ['get', 'patch', 'update'],
          },
          {
            subresource: 'status',
            responseKind: { kind: 'Deployment' },
            verbs: ['get', 'patch', 'update'],
          },
        ],
      });
    });

    it('reviews list only the verb create', async () => {
      const document = (await on().api.get('/apis', { accept: kubectlAccept })).body;
      const review = findResource(document, 'authorization.k8s.io', 'v1', 'selfsubjectaccessreviews');
      expect(review?.['verbs']).toEqual(['create']);
    });
  });

  describe('legacy discovery', () => {
    it('/api and /apis answer APIVersions and APIGroupList when no aggregated form is accepted', async () => {
      const core = await on().api.get('/api');
      expect(core.header('content-type')).toBe('application/json');
      expect(core.body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
      const groups = (await on().api.get('/apis')).body;
      expect(groups).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' });
      expect(objects(groups['groups']).find(({ name }) => name === 'apps')).toMatchObject({
        versions: [{ groupVersion: 'apps/v1', version: 'v1' }],
        preferredVersion: { groupVersion: 'apps/v1', version: 'v1' },
      });
    });

    it('/apis/<group> answers the group, or 404 for an unknown one', async () => {
      const answer = await on().api.get('/apis/apps');
      expect(answer.body).toMatchObject({ kind: 'APIGroup', name: 'apps', preferredVersion: { version: 'v1' } });
      expect((await on().api.get('/apis/no.such.group')).status).toBe(404);
    });

    it.each([
      ['/api/v1', 'v1', 'pods'],
      ['/apis/apps/v1', 'apps/v1', 'deployments'],
    ])('%s lists resources, and subresources with a slash in the name', async (path, groupVersion, plural) => {
      const { body } = await on().api.get(path);
      expect(body).toMatchObject({ kind: 'APIResourceList', groupVersion });
      const names = objects(body['resources']).map(({ name }) => name);
      expect(names).toContain(plural);
      expect(names).toContain(`${plural}/status`);
      const scale = objects(body['resources']).find(({ name }) => name === 'deployments/scale');
      if (plural === 'deployments') {
        expect(scale).toMatchObject({ group: 'autoscaling', version: 'v1', kind: 'Scale', namespaced: true });
      }
    });
  });

  describe('other server information', () => {
    it('/version is at least 1.32', async () => {
      const { body } = await on().api.get('/version');
      expect(body['gitVersion']).toMatch(/^v1\.(3[2-9]|[4-9]\d)\./);
      expect(body).toMatchObject({ major: '1', minor: expect.stringMatching(/^\d+$/) });
    });

    it.each(['/healthz', '/livez', '/readyz'])('%s answers ok, and lists its checks with verbose', async (path) => {
      const short = await on().api.get(path);
      expect([short.status, short.text]).toEqual([200, 'ok']);
      const long = await on().api.get(`${path}?verbose`);
      expect(long.text).toContain('[+]ping ok\n');
      expect(long.text).toContain(`${path.slice(1)} check passed\n`);
      expect((await on().api.get(`${path}/ping`)).text).toBe('ok');
      expect((await on().api.get(`${path}/no-such-check`)).status).toBe(404);
    });

    it('/metrics answers in the text format of Prometheus', async () => {
      const answer = await on().api.get('/metrics');
      expect(answer.header('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(answer.text).toContain('apiserver_request_total{');
    });

    it('/ lists the available paths', async () => {
      const { paths } = (await on().api.get('/')).body;
      expect(paths).toEqual(expect.arrayContaining(['/api/v1', '/apis/apps/v1', '/openapi/v3', '/version']));
    });

    it('an API that is not served (metrics.k8s.io) is answered 404', async () => {
      expect((await on().api.get('/apis/metrics.k8s.io/v1beta1/pods')).status).toBe(404);
    });
  });

  it.skipIf(real)('a failing check makes /readyz fail without naming the reason', async () => {
    const { server } = on().ours!;
    let broken = true;
    server.addHealthCheck({
      name: 'cellar',
      in: ['readyz'],
      check() {
        if (broken) throw new Error('flooded');
      },
    });
    const answer = await on().api.get('/readyz');
    expect(answer.status).toBe(500);
    expect(answer.text).toContain('[-]cellar failed: reason withheld\n');
    expect(answer.text).not.toContain('flooded');
    expect((await on().api.get('/readyz?exclude=cellar')).status).toBe(200);
    broken = false;
    expect((await on().api.get('/readyz')).status).toBe(200);
  });
});
