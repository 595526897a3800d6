import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../machinery/index.ts';
import { type Network, type Observer, type OpenStack, OpenStackError } from '../../../openstack/index.ts';
import { createCloudView } from './view.ts';

const network = (id: string, name: string): Network => ({ id, name }) as Network;

function setUp() {
  const clock = new ManualClock();
  const listed = new Map<string, Network>();
  const inCloud = new Map<string, Network>();
  let asOf: number | undefined;
  let lastSuccess: number | undefined;
  let gets = 0;
  const observer = {
    current: (_: string, id: string) => listed.get(id),
    health: () => ({ observing: true, synced: true, lastSuccess, error: undefined }),
    asOf: () => asOf,
    note: () => {},
  } as Partial<Observer> as Observer;
  const none = { get: () => Promise.reject(new Error('not asked for here')) };
  const cloud = {
    compute: { servers: none },
    volume: { volumes: none },
    loadBalancer: { loadBalancers: none },
    network: {
      ports: none,
      floatingIps: none,
      routers: none,
      securityGroups: none,
      networks: {
        get: async (id: string) => {
          gets++;
          const found = inCloud.get(id);
          if (found) return found;
          throw new OpenStackError({ kind: 'notFound', service: 'network', detail: 'gone' });
        },
      },
    },
  } as unknown as OpenStack;
  return {
    clock,
    listed,
    inCloud,
    view: createCloudView(cloud, observer, clock),
    gets: () => gets,
    look: async (meanwhile = (): void => {}) => {
      await clock.advance(1_000);
      const begun = clock.now();
      await clock.advance(500);
      meanwhile();
      await clock.advance(500);
      asOf = begun;
      lastSuccess = clock.now();
    },
  };
}

describe('a view of a cloud', () => {
  it('reads once what the lists do not contain', async () => {
    const { view, inCloud, gets } = setUp();
    inCloud.set('1', network('1', 'a'));
    expect(await view.read('network', '1')).toMatchObject({ name: 'a' });
    expect(await view.read('network', '1')).toMatchObject({ name: 'a' });
    expect(gets()).toBe(1);
  });

  it('prefers the response of its own call to an older list, and a newer list to that response', async () => {
    const { view, listed, look } = setUp();
    listed.set('1', network('1', 'old'));
    await look();
    view.remember('network', network('1', 'ours'));
    expect(view.current('network', '1')).toMatchObject({ name: 'ours' });
    listed.set('1', network('1', 'newest'));
    await look();
    expect(view.current('network', '1')).toMatchObject({ name: 'newest' });
  });

  it('ignores a list that began before its own call', async () => {
    const { view, listed, look } = setUp();
    listed.set('1', network('1', 'as it was'));
    await look(() => view.remember('network', network('1', 'ours')));
    expect(view.current('network', '1')).toMatchObject({ name: 'ours' });
    listed.set('1', network('1', 'newest'));
    await look();
    expect(view.current('network', '1')).toMatchObject({ name: 'newest' });
  });

  it('reads again a resource it created that a later list does not show', async () => {
    const { view, look, gets } = setUp();
    view.remember('network', network('1', 'ours'));
    await look();
    expect(await view.read('network', '1')).toBeUndefined();
    expect(gets()).toBe(1);
  });
});
