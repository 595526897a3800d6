import type { SimulatedKubernetesOptions } from '../../../simkube/index.ts';
import type { Timings } from '../../core/timings.ts';

/**
 * Whether a new node has a Pod network. `builtin`: the machine image provides one, so nodes become Ready on their own.
 * `required`: nodes stay NotReady until the Pod of a CNI DaemonSet runs on them, as after kubeadm.
 */
export type CniRule = 'builtin' | 'required';

export interface KubernetesSoftwareOptions extends SimulatedKubernetesOptions {
  /** timings of the cloud, in which the steps of nodes are declared */
  readonly timings: Timings;
  /** whether real sockets accept connections; without them no TLS server is created */
  readonly sockets: boolean;
  /** default: builtin; the image property `capstan_cni` overrides it per machine */
  readonly cni?: CniRule;
}
