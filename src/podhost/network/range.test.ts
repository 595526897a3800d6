import { afterEach, describe, expect, it } from 'vitest';
import { type Service, Services } from '../../api/index.ts';
import { nullLogger } from '../../runtime/index.ts';
import { type ClaimedRange, claimLoopbackRange, loopbackRangeOf } from '../../simkube/index.ts';
import { by, type HostWorld, hostWorld, namespace } from '../testing/host-world.ts';

const claims: ClaimedRange[] = [];
const worlds: HostWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
  for (const claim of claims.splice(0)) await claim.release();
});

async function open(): Promise<HostWorld> {
  const world = await hostWorld({ sockets: 115 });
  worlds.push(world);
  return world;
}

const rangeOf = async (world: HostWorld): Promise<string> => loopbackRangeOf(await world.address('0.1'))!.cidr;

/** Stops the host, lets another program take its range, and starts the host again. */
async function restartTaken(world: HostWorld): Promise<void> {
  const usual = loopbackRangeOf(await world.address('0.1'))!;
  await world.host.stop();
  claims.push(await claimLoopbackRange({ purpose: 'test', usual, isKept: true, log: nullLogger }));
  await world.restart();
}

async function balanced(world: HostWorld): Promise<string> {
  const spec = { type: 'LoadBalancer', ports: [{ port: 18090 }] };
  await world.client.create(
    Services,
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'b', namespace }, spec } satisfies Service,
    by,
  );
  const address = async (): Promise<string | undefined> =>
    (await world.find(Services, 'b'))?.status?.loadBalancer?.ingress?.[0]?.ip;
  await world.until(async () => (await address()) !== undefined);
  return (await address())!;
}

describe('several Pod hosts on one computer', () => {
  it('have addresses of different ranges', async () => {
    const [first, second] = [await open(), await open()];
    const ranges = [await rangeOf(first), await rangeOf(second)];
    expect(new Set(ranges).size).toBe(2);
    const given = [await balanced(first), await balanced(second)];
    expect(given.map((address) => loopbackRangeOf(address)?.cidr)).toEqual(ranges);
    const events = [...(await first.events('b')), ...(await second.events('b'))];
    expect(events.filter(({ message }) => message?.includes('18090 of 127'))).toEqual([]);
  });

  it('move to another range when theirs was taken and no object has an address of it', async () => {
    const world = await open();
    const before = await rangeOf(world);
    await restartTaken(world);
    expect(await rangeOf(world)).not.toBe(before);
  });

  it('refuse to start when their range was taken and an object has an address of it', async () => {
    const world = await open();
    const [before, address] = [await rangeOf(world), await balanced(world)];
    await expect(restartTaken(world)).rejects.toMatchObject({
      code: 'CAP_ADDRESSES_TAKEN',
      message: expect.stringContaining(`${before} is in use by the capstan process ${process.pid}`) as string,
      hint: expect.stringContaining('another data directory') as string,
    });
    await claims.pop()!.release();
    await world.restart();
    expect(await rangeOf(world)).toBe(before);
    expect((await world.find(Services, 'b'))?.status?.loadBalancer?.ingress?.[0]?.ip).toBe(address);
  });
});
