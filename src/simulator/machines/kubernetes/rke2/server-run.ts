import type { ClusterRegistry } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import type { Kubelet } from '../kubelet/kubelet.ts';
import type { Buckets } from './buckets.ts';
import type { Rke2Config } from './config.ts';
import type { Say } from './node.ts';
import type { ServerAddresses } from './server-addresses.ts';

/** One run of `rke2 server`. */
export interface ServerRun {
  readonly machine: RunningMachine;
  readonly registry: ClusterRegistry;
  readonly kubelet: Kubelet;
  readonly addresses: ServerAddresses;
  readonly buckets: Buckets;
  readonly config: Rke2Config;
  /** version of rke2, with a leading v */
  readonly version: string;
  readonly say: Say;
}
