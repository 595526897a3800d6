import type { Clock, Random } from '../machinery/index.ts';
import type { CloudConfig, Transport } from '../openstack/index.ts';
import type { Logger } from '../runtime/index.ts';
import type { SimulatedProgram } from './process.ts';

/** The files of a chart; undefined: nobody here has it. Throws when it is there and not of that version. */
export type ChartSource = (wanted: {
  /** address of the repository, as the configuration has it */
  readonly repository: string | undefined;
  readonly name: string;
  readonly version: string;
}) => ReadonlyMap<string, Uint8Array> | undefined;

/** What simulated clusters are built on. */
export interface SimulatedKubernetesOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** where the data of etcd is kept; absent: in memory */
  readonly directory?: string;
  readonly log: Logger;
  /** where charts of k0s extensions come from; absent: there are none */
  readonly charts?: ChartSource;
  /** how programs in Pods reach the cloud they have credentials of; absent: there is no cloud to be reached */
  readonly cloudTransport?: (config: CloudConfig) => Transport;
  /** programs of images that only whoever builds the simulation knows; asked before all others */
  readonly programs?: (image: string, argv: readonly string[]) => SimulatedProgram | undefined;
}
