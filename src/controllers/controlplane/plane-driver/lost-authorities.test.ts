import { describe, expect, it } from 'vitest';
import { Pods, Secrets, StatefulSets } from '../../../api/index.ts';
import { worldsOfTests } from './testing/hosting-world.ts';
import { createPlaneWorld, type PlaneWorld } from './testing/plane-world.ts';

const start = worldsOfTests(createPlaneWorld);
const copies = 'c1-rotation';

const forget = async ({ client, namespace }: PlaneWorld, ...names: string[]): Promise<void> => {
  for (const name of names) await client.delete(Secrets, { namespace, name });
};
/** Deletes Secrets while the controller is down; otherwise the first would be restored before the second is deleted. */
const forgetAtOnce = (world: PlaneWorld, ...names: string[]): Promise<void> =>
  world.restart(() => forget(world, ...names));
const certificates = (world: PlaneWorld) => world.report().stages.get('certificates');

describe('an authority whose Secret was deleted', () => {
  it.each([
    ['c1-ca', ['tls.crt', 'tls.key', 'ca.crt']],
    ['c1-etcd-ca', ['tls.crt', 'tls.key', 'ca.crt']],
    ['c1-front-proxy-ca', ['tls.crt', 'tls.key']],
    ['c1-service-account', ['tls.crt', 'tls.key']],
  ])('is restored unchanged: %s', async (name, keys) => {
    const world = await start();
    await world.untilSettled();
    const content = (of: string) => Promise.all(keys.map((key) => world.secret(of, key)));
    const before = await content(name);
    const leaf = await world.secret('c1-apiserver', 'tls.crt');
    await forget(world, name);
    await world.until(async () => (await world.find(Secrets, name)) !== undefined);
    await world.untilSettled();
    expect(await content(name)).toEqual(before);
    expect(await world.secret('c1-apiserver', 'tls.crt')).toBe(leaf);
  });

  it('is restored as rotated, not as before the rotation', async () => {
    const world = await start();
    await world.untilSettled();
    const old = await world.secret('c1-ca', 'tls.crt');
    await world.ask({ rotate: [{ what: 'ca', token: 'please' }] });
    await world.until(async () => (await world.secret('c1-ca', 'tls.crt')) !== old);
    await world.until(() => world.report().rotations.length === 0);
    const rotated = await world.secret('c1-ca', 'tls.crt');
    await forget(world, 'c1-ca');
    await world.until(async () => (await world.find(Secrets, 'c1-ca')) !== undefined);
    expect(await world.secret('c1-ca', 'tls.crt')).toBe(rotated);
  });

  it('is not replaced without its copy while workers trust it, and the message names Secret and cures', async () => {
    const world = await start();
    await world.untilSettled();
    const lost = await world.client.get(Secrets, { namespace: world.namespace, name: 'c1-ca' });
    const leaf = await world.secret('c1-apiserver', 'tls.crt');
    await forgetAtOnce(world, copies, 'c1-ca');
    await world.until(() => certificates(world)?.reason === 'AuthorityLost');
    expect(certificates(world)?.message).toMatch(
      /^Secret \S+\/c1-ca with the certificate authority is gone.*from a backup.*controlplane\.cluster\.x-k8s\.io\/rotate-ca/,
    );
    await world.pass(60_000);
    expect(await world.find(Secrets, 'c1-ca')).toBeUndefined();
    expect(await world.secret('c1-apiserver', 'tls.crt')).toBe(leaf);
    expect(world.report().counts.ready).toBe(2);

    const { resourceVersion: _, uid: __, ...metadata } = lost.metadata;
    await world.client.create(Secrets, { ...lost, metadata }, { fieldManager: 'test' });
    await world.untilSettled();
    expect(await world.secret('c1-apiserver', 'tls.crt')).toBe(leaf);
  });

  it('is created again once when a rotation is requested', async () => {
    const world = await start();
    await world.untilSettled();
    const old = await world.secret('c1-ca', 'tls.crt');
    await forgetAtOnce(world, copies, 'c1-ca');
    await world.until(() => certificates(world)?.reason === 'AuthorityLost');
    await world.ask({ rotate: [{ what: 'ca', token: 'begin again' }] });
    await world.untilSettled();
    const begun = await world.secret('c1-ca', 'tls.crt');
    expect(begun).not.toBe(old);
    await world.pass(60_000);
    expect(await world.secret('c1-ca', 'tls.crt')).toBe(begun);
    expect(world.report().rotations).toEqual([]);
  });

  it('of etcd is created again once no member presents certificates of the old one', async () => {
    const world = await start();
    await world.untilSettled();
    const { client, namespace } = world;
    await forgetAtOnce(world, copies, 'c1-etcd-ca');
    await world.until(() => certificates(world)?.reason === 'AuthorityLost');
    expect(certificates(world)?.message).toMatch(
      /c1-etcd-ca with the certificate authority.*delete StatefulSet c1-etcd/,
    );
    expect(await world.find(Secrets, 'c1-etcd-ca')).toBeUndefined();
    await client.delete(StatefulSets, { namespace, name: 'c1-etcd' });
    // the test API has no garbage collector
    for (const name of world.etcd.voters()) await client.delete(Pods, { namespace, name });
    await world.until(async () => (await world.find(Secrets, 'c1-etcd-ca')) !== undefined);
    await world.untilSettled();
    expect(world.report().etcd).toMatchObject({ members: 3, ready: 3 });
    expect(world.etcd.log.filter((line) => line.startsWith('removed'))).toEqual([]);
  });

  it('is simply created when it never signed anything', async () => {
    const world = await start({ balances: false });
    await world.until(async () => (await world.find(Secrets, 'c1-ca')) !== undefined);
    await world.until(async () => (await world.find(Secrets, copies)) !== undefined);
    await forgetAtOnce(world, copies, 'c1-ca');
    await world.until(async () => (await world.find(Secrets, 'c1-ca')) !== undefined);
    expect(certificates(world)?.status).toBe('True');
  });
});
