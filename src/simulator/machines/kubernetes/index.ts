// What kubeadm brings up on simulated machines: etcd, the workload API, kubelets and the Pods on them.
export type { CniRule, KubernetesSoftwareOptions } from './options.ts';
export { createKubernetesSoftware } from './software.ts';
