import type { SimulatedKubernetesOptions } from '../../../simkube/index.ts';
import type { Timings } from '../../core/timings.ts';

/**
 * Whether Pods find a network on a fresh node. `builtin`: the machine image brings one, nodes turn Ready by themselves.
 * `required`: as kubeadm leaves a cluster, nodes stay NotReady until the Pod of a CNI DaemonSet runs on them.
 */
export type CniRule = 'builtin' | 'required';

export interface KubernetesSoftwareOptions extends SimulatedKubernetesOptions {
  /** of the whole cloud; the steps of nodes are declared in it */
  readonly timings: Timings;
  /** whether connections over real sockets come in; without them no TLS server is ever made */
  readonly sockets: boolean;
  /** default builtin; the image property `capstan_cni` of a machine's image decides otherwise for that machine */
  readonly cni?: CniRule;
}
