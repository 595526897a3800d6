import { describe, expect, it } from 'vitest';
import { failureOf } from '../testing/failure.ts';
import { fakeCloud } from '../testing/fake-cloud.ts';
import { collect, nextPage } from './pages.ts';
import { parseQuotas, quotaLeft } from './quotas.ts';

const network = (id: string, name = id) => ({ id, name });

describe('lists', () => {
  it('go from page to page by the query of the link, whatever host it names', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /network/v2.0/networks', ({ query }) =>
      query.get('marker') === 'b'
        ? { json: { networks: [network('c')], networks_links: [{ rel: 'previous', href: 'http://x/?marker=c' }] } }
        : {
            json: {
              networks: [network('a'), network('b')],
              networks_links: [
                { rel: 'next', href: 'http://internal:9696/v2.0/networks?limit=2&name=n&marker=b' },
                { rel: 'previous', href: 'http://internal:9696/' },
              ],
            },
          },
    );
    const found = await collect(cloud.connect().network.networks.list({ name: 'n' }, { pageSize: 2 }));
    expect(found.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(cloud.log.slice(1)).toEqual([
      'GET /network/v2.0/networks?name=n&limit=2',
      'GET /network/v2.0/networks?limit=2&name=n&marker=b',
    ]);
  });

  it('request no further page than is used', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /network/v2.0/networks', {
      json: { networks: [network('a')], networks_links: [{ rel: 'next', href: '?marker=a' }] },
    });
    for await (const item of cloud.connect().network.networks.list()) {
      expect(item.id).toBe('a');
      break;
    }
    expect(cloud.log).toHaveLength(2);
  });

  it('stop with an error when pages never end', async () => {
    const cloud = fakeCloud();
    let page = 0;
    cloud.on('GET /network/v2.0/networks', () => ({
      json: { networks: [], networks_links: [{ rel: 'next', href: `?marker=${++page}` }] },
    }));
    const error = await failureOf(collect(cloud.connect().network.networks.list()));
    expect(error.message).toContain('the list does not end');
    expect(page).toBeLessThan(2_000);
  });

  it('stop when a page leads back to an earlier one', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /network/v2.0/networks', {
      json: { networks: [], networks_links: [{ rel: 'next', href: '?limit=1' }] },
    });
    const error = await failureOf(collect(cloud.connect().network.networks.list({}, { pageSize: 1 })));
    expect(error.message).toContain('the same page again');
  });

  it("follow glance's path", () => {
    expect(nextPage({ images: [], next: '/v2/images?limit=1&marker=x' }, 'images')).toBe('?limit=1&marker=x');
    expect(nextPage({ images: [] }, 'images')).toBeUndefined();
  });
});

describe('finding by name', () => {
  it('compares names exactly, since services match loosely', async () => {
    const cloud = fakeCloud();
    const server = (id: string, name: string) => ({ id, name, status: 'ACTIVE' });
    cloud.on('GET /compute/v2.1/servers/detail', { json: { servers: [server('1', 'a.b'), server('2', 'axb')] } });
    expect(await cloud.connect().compute.servers.find('a.b')).toMatchObject({ id: '1' });
    expect(cloud.log.at(-1)).toBe('GET /compute/v2.1/servers/detail?name=^a\\.b$');
  });

  it('returns nothing when there is no match and refuses to choose among several', async () => {
    const cloud = fakeCloud();
    cloud.on('GET /network/v2.0/networks', ({ query }) => ({
      json: { networks: query.get('name') === 'two' ? [network('a', 'two'), network('b', 'two')] : [] },
    }));
    const { networks } = cloud.connect().network;
    expect(await networks.find('none')).toBeUndefined();
    const error = await failureOf(networks.find('two'));
    expect(error.kind).toBe('ambiguous');
    expect(error.message).toBe(
      'network: there are 2 networks named "two" (a, b); use its id, or give it a unique name',
    );
  });
});

describe('deleting', () => {
  it('tells whether there was something to delete', async () => {
    const cloud = fakeCloud();
    cloud.on('DELETE /network/v2.0/ports/x', { status: 204 });
    const { ports } = cloud.connect().network;
    expect(await ports.delete('x')).toBe(true);
    expect(await ports.delete('y')).toBe(false);
  });
});

describe('answers of the wrong form', () => {
  it.each([
    [{ json: { port: { name: 'no id' } } }, /"id" of the answer is not text/],
    [{ json: { prot: {} } }, /the answer has no "port"/],
    [{ json: [] }, /the answer is not an object/],
    [{ text: 'hello', headers: { 'content-type': 'text/plain' } }, /something that is not JSON/],
  ])('are refused: %j', async (answer, message) => {
    const cloud = fakeCloud();
    cloud.on('GET /network/v2.0/ports/x', answer);
    expect((await failureOf(cloud.connect().network.ports.get('x'))).message).toMatch(message);
  });
});

describe('a service that is missing', () => {
  it('reports the missing service before anything is sent', async () => {
    const cloud = fakeCloud();
    const { loadBalancer } = cloud.connect({}, { region: 'Elsewhere' });
    const error = await failureOf(collect(loadBalancer.loadBalancers.list()));
    expect(error).toMatchObject({ kind: 'noService', service: 'load-balancer' });
    expect(cloud.log).toHaveLength(1);
  });
});

describe('quotas', () => {
  it('are read with and without usage', () => {
    const quotas = parseQuotas({
      id: 'p',
      cores: 20,
      ram: { limit: 100, in_use: 30, reserved: 10 },
      port: { limit: -1, used: 5, reserved: 0 },
    });
    expect(Object.keys(quotas)).toEqual(['cores', 'ram', 'port']);
    expect([quotas['cores']!, quotas['ram']!, quotas['port']!].map(quotaLeft)).toEqual([
      undefined,
      60,
      Number.POSITIVE_INFINITY,
    ]);
  });
});
