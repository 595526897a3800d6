import { CapstanError, type Clock, sleep } from '../../machinery/index.ts';

const pollMs = 500;

export interface WaitOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly patienceMs: number;
  readonly hint: string;
}

/** Polls until `look` returns undefined; its text describes what is missing. */
export async function waitFor(look: () => Promise<string | undefined>, options: WaitOptions): Promise<void> {
  const { clock, signal, patienceMs, hint } = options;
  const deadline = clock.now() + patienceMs;
  for (;;) {
    const missing = await look();
    if (missing === undefined) return;
    if (clock.now() >= deadline) {
      throw new CapstanError('CAP_ADOPTION', `${missing} after ${Math.round(patienceMs / 1000)} seconds`, { hint });
    }
    await sleep(clock, pollMs, signal);
  }
}
