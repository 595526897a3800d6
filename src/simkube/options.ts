import type { Clock, Random } from '../machinery/index.ts';
import type { Logger } from '../runtime/index.ts';

/** What simulated clusters are built on. */
export interface SimulatedKubernetesOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** where the data of etcd is kept; absent: in memory */
  readonly directory?: string;
  readonly log: Logger;
}
