import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock, seededRandom } from '../../machinery/index.ts';
import { nullLogger } from '../../runtime/index.ts';
import { claimLoopbackRange, loopbackRange } from '../../simkube/index.ts';
import { createCloud, type SimulatedCloud } from '../cloud.ts';
import { testSoftware } from '../machines/testing/booting-cloud.ts';
import type { World } from './world.ts';

/** Uses a range away from other clouds on this host. */
const world: World = {
  externalNetworks: [
    {
      name: 'public',
      cidr: '127.102.0.0/16',
      gateway: '127.102.0.1',
      pool: { start: '127.102.0.10', end: '127.102.255.250' },
    },
  ],
};

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const work of undo.splice(0).reverse()) await work();
});

async function open(directory?: string, sockets = true): Promise<SimulatedCloud> {
  const cloud = await createCloud({
    clock: new ManualClock(),
    random: seededRandom(1),
    world,
    machines: { software: () => testSoftware(), sockets },
    ...(directory !== undefined && { directory }),
  });
  undo.push(() => cloud.close());
  return cloud;
}

async function temporary(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-range-'));
  undo.push(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

const rangeOf = ({ core }: SimulatedCloud): string => core.services.network.externalSubnets()[0]!.cidr;

describe('several clouds on one computer', () => {
  it('have addresses of different ranges', async () => {
    const [first, second] = [await open(), await open()];
    expect(rangeOf(second)).not.toBe(rangeOf(first));
    expect(rangeOf(second)).toMatch(/^127\.1[012]\d\.0\.0\/16$/);
  });

  it('release their range when they are closed', async () => {
    const first = await open();
    const range = rangeOf(first);
    await first.close();
    expect(rangeOf(await open())).toBe(range);
  });

  it('share a range when they do not listen on sockets', async () => {
    const clouds = [await open(undefined, false), await open(undefined, false)];
    expect(clouds.map(rangeOf)).toEqual(['127.102.0.0/16', '127.102.0.0/16']);
  });
});

describe('a persistent cloud with a loopback range', () => {
  it('keeps its range even if the usual one is free again', async () => {
    const other = await open();
    const directory = await temporary();
    const before = await open(directory);
    const range = rangeOf(before);
    expect(range).not.toBe(rangeOf(other));
    await before.close();
    await other.close();
    expect(rangeOf(await open(directory))).toBe(range);
  });

  it('does not open while its range is taken, and opens when it is free again', async () => {
    const directory = await temporary();
    const before = await open(directory);
    const range = rangeOf(before);
    await before.close();
    const usual = loopbackRange(Number(range.split('.')[1]));
    const taken = await claimLoopbackRange({ purpose: 'test', usual, isKept: true, log: nullLogger });
    await expect(open(directory)).rejects.toMatchObject({
      code: 'CAP_ADDRESSES_TAKEN',
      message: expect.stringContaining(`${range} is in use by the capstan process ${process.pid}`) as string,
    });
    await taken.release();
    expect(rangeOf(await open(directory))).toBe(range);
  });
});
