import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { memoryLogger, nullLogger } from '../../runtime/index.ts';
import { type ClaimedRange, claimLoopbackRange } from './claim.ts';
import { type LoopbackRange, loopbackRange, loopbackRangeOf, rangesFrom } from './range.ts';

// Ranges that clouds and Pod hosts on this computer try last.
const usual = loopbackRange(101);

const claims: ClaimedRange[] = [];
afterEach(async () => {
  for (const claim of claims.splice(0)) await claim.release();
});

async function claim(desired: { usual: LoopbackRange; isKept?: boolean }, log = nullLogger): Promise<ClaimedRange> {
  const claimed = await claimLoopbackRange({ purpose: 'test', isKept: false, log, ...desired });
  claims.push(claimed);
  return claimed;
}

describe('ranges of loopback addresses', () => {
  it.each([
    ['127.64.0.10', '127.64.0.0/16'],
    ['127.0.0.1', '127.0.0.0/16'],
    ['10.0.0.1', undefined],
    ['127.64.0.0/16', undefined],
    ['::1', undefined],
  ])('%s belongs to %s', (address, cidr) => {
    expect(loopbackRangeOf(address)?.cidr).toBe(cidr);
  });

  it('never give clouds and Pods the same range', () => {
    const [clouds, pods] = [64, 65].map((number) => Array.from(rangesFrom(loopbackRange(number)), ({ cidr }) => cidr));
    expect(clouds?.[0]).toBe('127.64.0.0/16');
    expect(pods?.at(-1)).toBe('127.127.0.0/16');
    expect(new Set([...clouds!, ...pods!]).size).toBe(64);
  });
});

describe('a claim on a range', () => {
  it('uses the next range when the usual one is taken, and says so', async () => {
    const first = await claim({ usual });
    const { logger, entries } = memoryLogger();
    const second = await claim({ usual: first }, logger);
    expect(second.number).toBeGreaterThan(first.number);
    expect(entries).toMatchObject([{ level: 'info', fields: { range: second.cidr, usual: first.cidr } }]);
  });

  it('ends when it is released', async () => {
    const first = await claim({ usual });
    await first.release();
    expect((await claim({ usual: first, isKept: true })).cidr).toBe(first.cidr);
  });

  it('fails for a range that must be kept and names the process that has it', async () => {
    const first = await claim({ usual });
    await expect(claim({ usual: first, isKept: true })).rejects.toMatchObject({
      code: 'CAP_ADDRESSES_TAKEN',
      message: `${first.cidr} is in use by the capstan process ${process.pid}, and addresses of the test were given out of it before`,
      hint: `stop process ${process.pid} first, or use another data directory`,
    });
  });

  it('fails for a range that must be kept when a foreign program is in the way, and names the socket', async () => {
    const range = await claim({ usual });
    await range.release();
    const port = 12_700 + range.number;
    const foreign = createServer((socket) => socket.end('hello'));
    await new Promise<void>((resolve) => foreign.listen({ host: '127.0.0.1', port }, resolve));
    try {
      await expect(claim({ usual: range, isKept: true })).rejects.toMatchObject({
        message: expect.stringContaining(`${range.cidr} is in use by another program`) as string,
        hint: `stop the program that listens on 127.0.0.1:${port}, or use another data directory`,
      });
    } finally {
      await new Promise((resolve) => foreign.close(resolve));
    }
  });

  it('fails when no range is left', async () => {
    const last = loopbackRange(127);
    // Another process may hold it; it is taken in either case.
    await claim({ usual: last }).catch(() => {});
    await expect(claim({ usual: last })).rejects.toMatchObject({
      code: 'CAP_ADDRESSES_TAKEN',
      message: expect.stringContaining('no addresses are left for the test') as string,
    });
  });
});
