import { expect, it } from 'vitest';
import { createObserver } from '../../src/openstack/index.ts';
import { contract } from './support/contract.ts';
import { createLab } from './support/lab.ts';
import { serverSpec } from './support/servers.ts';
import { uniqueName } from './support/tenant.ts';
import { until } from './support/wait.ts';

contract('observing', (cloud) => {
  const intervals = { quietMs: 2000, busyMs: 200, busyMaxMs: 500 };

  it('observes a server from its creation to its deletion', async () => {
    const observer = createObserver(cloud.member, { intervals });
    const { servers } = cloud.member.compute;
    const { id } = await servers.create(serverSpec(cloud, {}));
    const seen: string[] = [];
    const stop = observer.subscribe('server', ({ change, now }) => seen.push(`${change} ${now?.status ?? ''}`.trim()), {
      id,
    });
    const release = observer.watchClosely('server', id);
    await until(
      async () => seen,
      () => observer.current('server', id)?.status === 'ACTIVE',
    );
    await servers.delete(id);
    await until(
      async () => seen,
      () => seen.at(-1) === 'removed',
    );
    expect(seen[0]).toMatch(/^added (BUILD|ACTIVE)$/);
    release();
    stop();
    observer.close();
  });

  it('observes ports, volumes and floating IPs without a request for each', async () => {
    const observer = createObserver(cloud.member, { intervals });
    const lab = await createLab(cloud.member);
    const ports = await cloud.member.network.ports.createMany(
      [1, 2, 3].map((n) => ({ networkId: lab.network.id, name: `p${n}` })),
    );
    const volume = await cloud.member.volume.volumes.create({ name: uniqueName('volume'), size: 1 });
    const stops = [
      ...ports.map(({ id }) => observer.subscribe('port', () => {}, { id })),
      observer.subscribe('volume', () => {}, { id: volume.id }),
      observer.subscribe('floatingIp', () => {}),
    ];
    await until(
      async () => observer.health('volume'),
      () =>
        ports.every(({ id }) => observer.current('port', id)) &&
        observer.current('volume', volume.id)?.status === 'available',
    );
    await cloud.member.network.ports.delete(ports[0]!.id);
    await observer.refresh('port');
    await until(
      async () => observer.refresh('port').then(() => observer.current('port', ports[0]!.id)),
      (port) => port === undefined,
    );
    expect(observer.health('floatingIp')).toMatchObject({ synced: true, error: undefined });
    for (const stop of stops) stop();
    expect(observer.health('port').observing).toBe(false);
    expect([...observer.all('port')]).toEqual([]);
  });
});
