import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../machinery/index.ts';
import { Jobs } from './jobs.ts';
import { State } from './state/state.ts';

function setUp(): { state: State; clock: ManualClock; jobs: Jobs; ran: string[]; errors: unknown[] } {
  const state = new State();
  const clock = new ManualClock(0);
  const errors: unknown[] = [];
  const jobs = new Jobs({ state, clock, onError: (error) => errors.push(error) });
  const ran: string[] = [];
  jobs.define<string | undefined>('note', (subject, data) => void ran.push(`${clock.now()} ${subject}${data ?? ''}`));
  return { state, clock, jobs, ran, errors };
}

describe('jobs', () => {
  it('run by time, then by creation', async () => {
    const { state, clock, jobs, ran } = setUp();
    state.transact(() => {
      jobs.schedule(20, 'note', 'b');
      jobs.schedule(10, 'note', 'a');
      jobs.schedule(20, 'note', 'c', '!');
    });
    await clock.advance(15);
    expect(ran).toEqual(['10 a']);
    await clock.advance(15);
    expect(ran).toEqual(['10 a', '20 b', '20 c!']);
    expect(jobs.size).toBe(0);
  });

  it('can be cancelled and are not scheduled by a failing transaction', async () => {
    const { state, clock, jobs, ran } = setUp();
    state.transact(() => jobs.schedule(10, 'note', 'a'));
    expect(jobs.waiting('note', 'a')).toBe(true);
    state.transact(() => jobs.cancel('note', 'a'));
    expect(() =>
      state.transact(() => {
        jobs.schedule(10, 'note', 'b');
        throw new Error('no');
      }),
    ).toThrow();
    await clock.advance(100);
    expect(ran).toEqual([]);
  });

  it('may schedule others, due at once or later', async () => {
    const { state, clock, jobs, ran } = setUp();
    jobs.define('chain', (subject) => {
      ran.push(`chain ${subject}`);
      if (subject !== '3') jobs.schedule(subject === '1' ? 0 : 5, 'chain', String(Number(subject) + 1));
    });
    state.transact(() => jobs.schedule(1, 'chain', '1'));
    await clock.advance(10);
    expect(ran).toEqual(['chain 1', 'chain 2', 'chain 3']);
  });

  it('undo their changes when they fail and do not run again', async () => {
    const { state, clock, jobs, errors } = setUp();
    const table = state.table<{ id: string }>('t');
    jobs.define('fail', () => {
      table.insert({ id: '1' });
      throw new Error('bug');
    });
    state.transact(() => jobs.schedule(1, 'fail', 'x'));
    await clock.advance(10);
    expect(table.size).toBe(0);
    expect(jobs.size).toBe(0);
    expect(errors).toHaveLength(1);
  });

  it('continue after they were loaded', async () => {
    const first = setUp();
    first.state.transact(() => first.jobs.schedule(10, 'note', 'kept'));
    const second = setUp();
    second.state.load(first.state.rows());
    second.jobs.resume();
    second.state.transact(() => second.jobs.schedule(5, 'note', 'new'));
    await second.clock.advance(20);
    expect(second.ran).toEqual(['5 new', '10 kept']);
  });

  it('use one timer of the clock, however many wait', () => {
    const state = new State();
    let timers = 0;
    const after = (): (() => void) => {
      timers++;
      return () => {
        timers--;
      };
    };
    const jobs = new Jobs({ state, clock: { now: () => 0, monotonic: () => 0, after }, onError: () => {} });
    jobs.define('wait', () => {});
    state.transact(() => {
      for (let i = 0; i < 100; i++) jobs.schedule(1000 - i, 'wait', String(i));
    });
    expect(jobs.size).toBe(100);
    expect(timers).toBe(1);
  });
});
