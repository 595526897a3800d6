import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../machinery/index.ts';
import { pooledEtcd } from './pool.ts';
import { type EtcdClient, EtcdError, type EtcdTarget } from './types.ts';

const target: EtcdTarget = { cluster: { namespace: 'default', name: 'c1' }, node: 'n1' };
const { signal } = new AbortController();

/** Counts connections, and lets them fail or close on demand. */
function connections() {
  const clock = new ManualClock();
  const made: { closed: boolean; broken: boolean }[] = [];
  const open = pooledEtcd(
    async (_: EtcdTarget, __: AbortSignal): Promise<EtcdClient> => {
      const state = { closed: false, broken: false };
      made.push(state);
      const answer = async (): Promise<never[]> => {
        if (state.broken) throw new EtcdError('no answer');
        return [];
      };
      return {
        members: answer,
        alarms: answer,
        removeMember: answer,
        promoteMember: answer,
        status: () => Promise.reject(new EtcdError('not asked here')),
        moveLeader: async () => {},
        isClosed: () => state.closed,
        close: () => {
          state.closed = true;
        },
      };
    },
    ({ node }) => node,
    clock,
  );
  return { clock, made, open };
}

describe('connections to etcd members', () => {
  it('are reused for a while and closed when unused', async () => {
    const { clock, made, open } = connections();
    for (let turn = 0; turn < 3; turn++) {
      const client = await open(target, signal);
      await client.members(signal);
      client.close();
    }
    expect(made).toHaveLength(1);
    await clock.advance(60_000);
    expect(made).toEqual([{ closed: true, broken: false }]);
    await open(target, signal);
    expect(made).toHaveLength(2);
  });

  it('are used by one caller at a time', async () => {
    const { made, open } = connections();
    const [one, other] = [await open(target, signal), await open(target, signal)];
    expect(made).toHaveLength(2);
    one.close();
    other.close();
    expect(made.map(({ closed }) => closed)).toEqual([false, true]);
    expect((await open({ ...target, node: 'n2' }, signal)).isClosed()).toBe(false);
    expect(made).toHaveLength(3);
  });

  it.each(['a call failed', 'the other side closed it'])('are not reused when %s', async (what) => {
    const { made, open } = connections();
    const client = await open(target, signal);
    if (what === 'a call failed') {
      made[0]!.broken = true;
      await expect(client.members(signal)).rejects.toThrow('no answer');
    }
    client.close();
    made[0]!.closed = true;
    await open(target, signal);
    expect(made).toHaveLength(2);
  });
});
