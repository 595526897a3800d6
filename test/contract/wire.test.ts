import { describe, expect, it } from 'vitest';
import type { OpenStack, ServiceClient } from '../../src/openstack/index.ts';
import { contract, type WireAnswer } from './support/contract.ts';
import { nobody, refused } from './support/refused.ts';

type ServiceName = 'identity' | 'compute' | 'network' | 'image' | 'volume' | 'loadBalancer';

/** For each service a collection that everyone may list, and whether its errors are HTML. */
const services: readonly [name: ServiceName, collection: string, html: boolean][] = [
  ['compute', '/servers', false],
  ['network', '/networks', false],
  ['image', '/images', true],
  ['volume', '/volumes', false],
  ['loadBalancer', '/lbaas/loadbalancers', false],
];

contract('the wire', (cloud) => {
  const client = (name: ServiceName): ServiceClient => (cloud.member as OpenStack)[name].service;
  const at = async (name: ServiceName, path: string): Promise<string> => (await client(name).endpoint()) + path;
  const token = async (): Promise<string> => {
    const { credential, authUrl } = cloud.tenant.config;
    if (credential.method !== 'password') throw new Error('not a password');
    const answer = await cloud.wire({
      method: 'POST',
      url: `${authUrl.replace(/\/$/, '')}/auth/tokens`,
      json: {
        auth: {
          identity: {
            methods: ['password'],
            password: { user: { id: cloud.tenant.userId, password: credential.password } },
          },
          scope: { project: { id: cloud.tenant.projectId } },
        },
      },
    });
    return answer.headers['x-subject-token']!;
  };
  const bodyOf = (answer: WireAnswer): string => answer.text.replaceAll(/\s+/g, ' ');

  describe('requests without a token or with a bad one', () => {
    it.each(services)('to %s are answered 401', async (name, collection, html) => {
      for (const given of [undefined, 'garbage']) {
        const answer = await cloud.wire({
          method: 'GET',
          url: await at(name, collection),
          ...(given && { token: given }),
        });
        expect(answer.status).toBe(401);
        expect(answer.headers['www-authenticate']).toMatch(/^Keystone uri=["'].+["']$/);
        if (html) expect(answer.headers['content-type']).toContain('text/html');
        else
          expect(answer.json.error).toMatchObject({
            code: 401,
            title: 'Unauthorized',
            message: 'The request you have made requires authentication.',
          });
      }
    });
  });

  describe('answers of services', () => {
    it.each(services)('of %s carry a request id, errors too', async (name, collection) => {
      const good = await client(name).request({ method: 'GET', path: collection });
      expect(good.requestId).toMatch(/^req-[0-9a-f-]{36}$/);
      const error = await refused(client(name).request({ method: 'GET', path: `${collection}/${nobody}` }), {
        status: 404,
        kind: 'notFound',
      });
      expect(error.requestId).toMatch(/^req-[0-9a-f-]{36}$/);
      expect(error.requestId).not.toBe(good.requestId);
    });
  });

  describe('the 404 of a missing resource', () => {
    it.each<[ServiceName, string, string]>([
      ['compute', `/servers/${nobody}`, `Instance ${nobody} could not be found.`],
      ['compute', `/flavors/${nobody}`, `Flavor ${nobody} could not be found.`],
      ['compute', `/os-server-groups/${nobody}`, `Instance group ${nobody} could not be found.`],
      ['network', `/networks/${nobody}`, `Network ${nobody} could not be found.`],
      ['network', `/subnets/${nobody}`, `Subnet ${nobody} could not be found.`],
      ['network', `/ports/${nobody}`, `Port ${nobody} could not be found.`],
      ['network', `/routers/${nobody}`, `Router ${nobody} could not be found`],
      ['network', `/floatingips/${nobody}`, `Floating IP ${nobody} could not be found`],
      ['network', `/security-groups/${nobody}`, `Security group ${nobody} does not exist`],
      ['network', `/security-group-rules/${nobody}`, `Security group rule ${nobody} does not exist`],
      ['network', `/trunks/${nobody}`, `Trunk ${nobody} could not be found.`],
      ['image', `/images/${nobody}`, `No image found with ID ${nobody}`],
      ['volume', `/volumes/${nobody}`, `Volume ${nobody} could not be found.`],
      ['volume', `/types/${nobody}`, `Volume type ${nobody} could not be found.`],
      ['loadBalancer', `/lbaas/loadbalancers/${nobody}`, `Load Balancer ${nobody} not found.`],
      ['loadBalancer', `/lbaas/listeners/${nobody}`, `Listener ${nobody} not found.`],
      ['loadBalancer', `/lbaas/pools/${nobody}`, `Pool ${nobody} not found.`],
      ['loadBalancer', `/lbaas/healthmonitors/${nobody}`, `Health Monitor ${nobody} not found.`],
    ])('explains the error of %s for %s', async (name, path, message) => {
      await refused(client(name).request({ method: 'GET', path }), { status: 404, kind: 'notFound', says: message });
    });

    it('has an error name in neutron', async () => {
      const answer = await cloud.wire({
        method: 'GET',
        url: await at('network', `/ports/${nobody}`),
        token: await token(),
      });
      expect(answer.json).toEqual({
        NeutronError: { type: 'PortNotFound', message: `Port ${nobody} could not be found.`, detail: '' },
      });
    });

    it('is wrapped by its kind in nova and cinder', async () => {
      const by = await token();
      const compute = await cloud.wire({ method: 'GET', url: await at('compute', `/servers/${nobody}`), token: by });
      expect(compute.json).toEqual({ itemNotFound: { code: 404, message: `Instance ${nobody} could not be found.` } });
      const volume = await cloud.wire({ method: 'GET', url: await at('volume', `/volumes/${nobody}`), token: by });
      expect(volume.json).toEqual({ itemNotFound: { code: 404, message: `Volume ${nobody} could not be found.` } });
    });

    it('is a fault in octavia and a page in glance', async () => {
      const by = await token();
      const balancer = await cloud.wire({
        method: 'GET',
        url: await at('loadBalancer', `/lbaas/loadbalancers/${nobody}`),
        token: by,
      });
      expect(balancer.json).toEqual({
        faultcode: 'Client',
        faultstring: `Load Balancer ${nobody} not found.`,
        debuginfo: null,
      });
      const image = await cloud.wire({ method: 'GET', url: await at('image', `/images/${nobody}`), token: by });
      expect(image.headers['content-type']).toMatch(/^text\/html/);
      expect(bodyOf(image)).toContain(`<h1>404 Not Found</h1> No image found with ID ${nobody}`);
    });
  });

  describe('an unknown path', () => {
    it.each<[ServiceName]>([['compute'], ['network'], ['image'], ['volume'], ['loadBalancer']])(
      'of %s is answered 404',
      async (name) => {
        const answer = await cloud.wire({ method: 'GET', url: await at(name, '/no-such-thing'), token: await token() });
        expect(answer.status).toBe(404);
        if (name === 'network') expect(answer.json.NeutronError.message).toBe('The resource could not be found.');
        else expect(answer.headers['content-type']).toContain('text/html');
      },
    );
  });

  describe('a body of malformed JSON', () => {
    it.each<[ServiceName, string, RegExp]>([
      ['identity', '/auth/tokens', /Expecting to find valid JSON in request body/],
      ['compute', '/servers', /"badRequest".*Malformed request body/],
      ['network', '/networks', /"HTTPBadRequest".*Body contains invalid data/],
      ['image', '/images', /<h1>400 Bad Request<\/h1> Malformed JSON in request body\./],
      ['volume', '/volumes', /"badRequest".*Malformed request body/],
      ['loadBalancer', '/lbaas/loadbalancers', /"faultstring".*Request is not in valid JSON format/],
    ])('is refused by %s with 400 in its own format', async (name, path, shape) => {
      const answer = await cloud.wire({
        method: 'POST',
        url: await at(name, path),
        token: await token(),
        text: '{bad',
      });
      expect(answer.status).toBe(400);
      expect(bodyOf(answer)).toMatch(/NeutronError/.test(answer.text) ? /Body contains invalid data/ : shape);
    });
  });

  describe('version documents', () => {
    it('of nova are shown without a token, with the range of microversions', async () => {
      const answer = await cloud.wire({ method: 'GET', url: `${await at('compute', '/')}` });
      expect(answer.status).toBe(200);
      expect(answer.json.version).toMatchObject({
        id: 'v2.1',
        status: 'CURRENT',
        min_version: '2.1',
        version: expect.stringMatching(/^2\.\d+$/),
      });
    });

    it.each<[ServiceName, number, string]>([
      ['network', 200, 'v2.0'],
      ['loadBalancer', 200, 'v2.0'],
    ])('of %s are listed without a token', async (name, status, id) => {
      const root = (await at(name, '/')).replace(/v2(\.0)?\/$/, '');
      const answer = await cloud.wire({ method: 'GET', url: root });
      expect(answer.status).toBe(status);
      expect(answer.json.versions.map((version: { id: string }) => version.id)).toContain(id);
    });

    it('of glance are listed with 300', async () => {
      const root = (await at('image', '/')).replace(/v2\/$/, '');
      const answer = await cloud.wire({ method: 'GET', url: root });
      expect([answer.status, answer.json.versions[0].status]).toEqual([300, 'CURRENT']);
    });

    it('of octavia are high enough for allowed CIDRs', async () => {
      expect(await cloud.member.loadBalancer.supports('v2.12')).toBe(true);
      expect(await cloud.member.loadBalancer.supports('v2.99')).toBe(false);
    });
  });

  describe('microversions', () => {
    const compute = async (header: string | undefined, path = '/flavors') =>
      cloud.wire({
        method: 'GET',
        url: await at('compute', path),
        token: await token(),
        ...(header !== undefined && { headers: { 'openstack-api-version': header } }),
      });

    it('are echoed in the answer', async () => {
      const answer = await compute('compute 2.60');
      expect(answer.headers['openstack-api-version']).toBe('compute 2.60');
      expect(answer.headers['x-openstack-nova-api-version']).toBe('2.60');
      expect(answer.headers['vary']).toContain('OpenStack-API-Version');
    });

    it.each([
      ['none', undefined],
      ["another service's", 'volume 3.60'],
    ])('%s means the oldest', async (_what, header) => {
      expect((await compute(header)).headers['openstack-api-version']).toBe('compute 2.1');
    });

    it('may be requested as latest', async () => {
      expect((await compute('compute latest')).headers['openstack-api-version']).toMatch(/^compute 2\.\d\d+$/);
    });

    it('that are too new are refused with the supported range', async () => {
      const answer = await compute('compute 2.999');
      expect(answer.status).toBe(406);
      expect(answer.json.computeFault.message).toMatch(
        /^Version 2\.999 is not supported by the API\. Minimum is 2\.1 and maximum is 2\.\d+\.$/,
      );
    });

    it('of invalid form are refused', async () => {
      const answer = await compute('compute bogus');
      expect(answer.status).toBe(400);
      expect(answer.json.badRequest.message).toContain(
        'API Version String bogus is of invalid format. Must be of format MajorNum.MinorNum.',
      );
    });

    it('change what a flavor shows', async () => {
      const { service } = cloud.member.compute;
      const list = async (microversion: string) =>
        (await service.request({ method: 'GET', path: '/flavors/detail', microversion })).members('flavors')[0]!;
      expect(await list('2.1')).not.toHaveProperty('description');
      expect(await list('2.55')).toHaveProperty('description');
      expect(await list('2.60')).not.toHaveProperty('extra_specs');
      expect(await list('2.61')).toHaveProperty('extra_specs');
    });

    it('of cinder are echoed too', async () => {
      const answer = await cloud.member.volume.service.request({ method: 'GET', path: '/volumes' });
      expect(answer.headers['openstack-api-version']).toBe('volume 3.0');
    });
  });
});
