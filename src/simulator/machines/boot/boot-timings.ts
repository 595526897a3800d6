import type { Timing } from '../../core/timings.ts';

/** Durations of the boot of a machine, in milliseconds. */
export const bootTimings: Readonly<Record<string, Timing>> = {
  /** from power-on to cloud-init: firmware, kernel, systemd, network */
  'machine.boot': [5_000, 8_000],
  /** one run of a package manager, or one download */
  'machine.install': [1_000, 3_000],
};
