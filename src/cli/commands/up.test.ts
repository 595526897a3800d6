import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../machinery/index.ts';
import { recordingContext } from '../testing/memory-api.ts';
import { type RunningInstallation, unlessStopped } from './up.ts';

describe('a start that is interrupted', () => {
  const stopping = (): { context: Parameters<typeof unlessStopped>[1]; stop(): void; clock: ManualClock } => {
    const clock = new ManualClock();
    const base = recordingContext();
    let resolve = (): void => {};
    const stopped = new Promise<void>((done) => {
      resolve = done;
    });
    return {
      clock,
      context: { ...base, clock, stopped },
      stop: () => {
        base.stop();
        resolve();
      },
    };
  };

  it('ends although the start hangs', async () => {
    const { context, stop, clock } = stopping();
    const outcome = unlessStopped(new Promise<RunningInstallation>(() => {}), context);
    stop();
    const hasEnded = vi.fn();
    void outcome.then(hasEnded);
    await vi.waitFor(async () => {
      await clock.advance(1000);
      expect(hasEnded).toHaveBeenCalledWith(undefined);
    });
  });

  it('stops the installation when the start completes after all', async () => {
    const { context, stop } = stopping();
    let isStopped = false;
    const running = {
      stop: async () => {
        isStopped = true;
      },
    } as Partial<RunningInstallation> as RunningInstallation;
    stop();
    expect(await unlessStopped(Promise.resolve(running), context)).toBeUndefined();
    expect(isStopped).toBe(true);
  });

  it('fails with its own error only when it was not interrupted', async () => {
    const { context, stop } = stopping();
    await expect(unlessStopped(Promise.reject(new Error('own')), context)).rejects.toThrow('own');
    stop();
    expect(await unlessStopped(Promise.reject(new Error('aborted')), context)).toBeUndefined();
  });
});
