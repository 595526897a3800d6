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

/** The pauses after failures, each twice as long as the one before. */
export interface Pauses {
  /** after the first failure */
  readonly startMs: number;
  /** after the second one, when the first is followed by none */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** none after the first end of a container, then ten seconds, up to five minutes */
const restartPauses: Pauses = { startMs: 0, firstMs: firstBackoffMs, maxMs: maxBackoffMs };
/** those of a kubelet between two tries to mount a volume */
export const mountPauses: Pauses = { startMs: 500, firstMs: 500, maxMs: 122_000 };

/** The pause after a failure; it grows with every one. */
export class Backoff {
  readonly #pauses: Pauses;
  #nextMs: number;

  constructor(pauses: Pauses = restartPauses) {
    this.#pauses = pauses;
    this.#nextMs = pauses.startMs;
  }

  /** the pause that is due now; the next one is longer */
  next(): number {
    const pauseMs = this.#nextMs;
    this.#nextMs = Math.min(this.#pauses.maxMs, Math.max(this.#pauses.firstMs, pauseMs * 2));
    return pauseMs;
  }

  reset(): void {
    this.#nextMs = this.#pauses.startMs;
  }

  /** a container ended after it had run for so long */
  ran(ms: number): void {
    if (ms >= forgivenAfterMs) this.reset();
  }
}

/** A duration in the words of kubelets: 10s, 1m20s, 5m0s. */
export function formatPause(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
