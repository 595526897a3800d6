import type { ContainerExit } from '../containers/types.ts';

export type ContainerKind = 'init' | 'sidecar' | 'main';

/** Reports whether an exited container is restarted after its backoff. */
export function isRunAgain(kind: ContainerKind, restartPolicy: string, exit: ContainerExit): boolean {
  if (kind === 'sidecar') return true;
  if (restartPolicy === 'Never') return false;
  const failed = exit.exitCode !== 0;
  // An init container that succeeded never restarts.
  return kind === 'init' || restartPolicy === 'OnFailure' ? failed : true;
}

const firstBackoffMs = 10_000;
const maxBackoffMs = 300_000;
/** A container that ran this long resets its backoff. */
const forgivenAfterMs = 2 * maxBackoffMs;

/** Backoff parameters; each pause is twice the previous one. */
export interface Pauses {
  /** after the first failure */
  readonly startMs: number;
  /** after the second failure, if there is no pause after the first */
  readonly firstMs: number;
  readonly maxMs: number;
}

/** A kubelet's container backoff: none after the first exit, then ten seconds, up to five minutes. */
const restartPauses: Pauses = { startMs: 0, firstMs: firstBackoffMs, maxMs: maxBackoffMs };
/** A kubelet's backoff between attempts to mount a volume. */
export const mountPauses: Pauses = { startMs: 500, firstMs: 500, maxMs: 122_000 };

/** Exponential backoff after failures. */
export class Backoff {
  readonly #pauses: Pauses;
  #nextMs: number;

  constructor(pauses: Pauses = restartPauses) {
    this.#pauses = pauses;
    this.#nextMs = pauses.startMs;
  }

  /** Returns the present pause; the next one is longer. */
  next(): number {
    const pauseMs = this.#nextMs;
    this.#nextMs = Math.min(this.#pauses.maxMs, Math.max(this.#pauses.firstMs, pauseMs * 2));
    return pauseMs;
  }

  reset(): void {
    this.#nextMs = this.#pauses.startMs;
  }

  /** Reports how long a container ran before it exited. */
  ran(ms: number): void {
    if (ms >= forgivenAfterMs) this.reset();
  }
}

/** Formats a duration as kubelets do: 10s, 1m20s, 5m0s. */
export function formatPause(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
