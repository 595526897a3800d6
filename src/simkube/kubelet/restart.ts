import type { ContainerExit } from '../containers/types.ts';

/** When in the life of a Pod a container runs. */
export type ContainerKind = 'init' | 'sidecar' | 'main';

/** Whether a container that ended is run again, once its back-off is over. */
export function isRunAgain(kind: ContainerKind, restartPolicy: string, exit: ContainerExit): boolean {
  if (kind === 'sidecar') return true;
  if (restartPolicy === 'Never') return false;
  const failed = exit.exitCode !== 0;
  // An init container that succeeded is through, whatever the policy says.
  return kind === 'init' || restartPolicy === 'OnFailure' ? failed : true;
}

const firstBackoffMs = 10_000;
const maxBackoffMs = 300_000;
/** a container that ran this long is taken for one that works */
const forgivenAfterMs = 2 * maxBackoffMs;

/** The pause after a failure: none after the first, then ten seconds, doubling up to five minutes. */
export class Backoff {
  #nextMs = 0;

  /** the pause that is due now; the next one is longer */
  next(): number {
    const pauseMs = this.#nextMs;
    this.#nextMs = Math.min(maxBackoffMs, Math.max(firstBackoffMs, pauseMs * 2));
    return pauseMs;
  }

  /** a container ended after it had run for so long */
  ran(ms: number): void {
    if (ms >= forgivenAfterMs) this.#nextMs = 0;
  }
}

/** A duration in the words of kubelets: 10s, 1m20s, 5m0s. */
export function formatPause(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
