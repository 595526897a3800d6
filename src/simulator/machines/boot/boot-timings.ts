import type { Timing } from '../../core/timings.ts';

/** How long machines take for what they do by themselves, in milliseconds. */
export const bootTimings: Readonly<Record<string, Timing>> = {
  /** from power to cloud-init: firmware, kernel, systemd, network */
  'machine.boot': [5_000, 8_000],
  /** a package manager or a download */
  'machine.install': [1_000, 3_000],
};
