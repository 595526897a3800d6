import type { Clock, Random } from '../machinery/index.ts';
import type { CloudConfig, Transport } from '../openstack/index.ts';
import type { Logger } from '../runtime/index.ts';
import type { SimulatedProgram } from './process.ts';

/**
 * Returns the files of a chart; undefined if the chart is unknown. Throws if the chart exists but not in this version.
 */
export type ChartSource = (wanted: {
  /** URL of the repository, as configured */
  readonly repository: string | undefined;
  readonly name: string;
  readonly version: string;
}) => ReadonlyMap<string, Uint8Array> | undefined;

/** Dependencies of simulated clusters. */
export interface SimulatedKubernetesOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** directory of etcd data; absent: memory */
  readonly directory?: string;
  readonly log: Logger;
  /** source of charts for k0s extensions; absent: no charts */
  readonly charts?: ChartSource;
  /** transport of programs in Pods to their cloud; absent: no cloud is reachable */
  readonly cloudTransport?: (config: CloudConfig) => Transport;
  /** programs of additional images, defined by the user of the simulation; they take precedence */
  readonly programs?: (image: string, argv: readonly string[]) => SimulatedProgram | undefined;
}
