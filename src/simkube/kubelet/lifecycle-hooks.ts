import { type CancelTimer, type Clock, sleep } from '../../machinery/index.ts';
import { type CheckResult, check, type ProbeTarget } from './probe.ts';

const fine: CheckResult = { isGood: true, output: '' };

/** Runs the postStart hook. */
export async function runPostStart(target: ProbeTarget): Promise<CheckResult> {
  const hook = target.spec.lifecycle?.postStart;
  return hook ? check(hook, target, new AbortController().signal) : fine;
}

/** Runs the preStop hook within the grace period. Returns the remaining grace. */
export async function runPreStop(
  target: ProbeTarget,
  graceMs: number,
  clock: Clock,
): Promise<{ leftMs: number; result: CheckResult }> {
  const hook = target.spec.lifecycle?.preStop;
  if (!hook || graceMs <= 0) return { leftMs: graceMs, result: fine };
  const begun = clock.now();
  const over = new AbortController();
  let cancel: CancelTimer = () => {};
  const late = new Promise<CheckResult>((resolve) => {
    cancel = clock.after(graceMs, () => resolve({ isGood: false, output: 'the grace period is over' }));
  });
  const hooked = hook.sleep
    ? sleep(clock, hook.sleep.seconds * 1000, over.signal).then(
        () => fine,
        () => fine,
      )
    : check(hook, target, over.signal);
  const result = await Promise.race([hooked, late]);
  cancel();
  over.abort();
  return { leftMs: Math.max(0, graceMs - (clock.now() - begun)), result };
}
