// Kubernetes on simulated machines: kubeadm, etcd, the workload API, kubelets and their Pods.
export type { CniRule, KubernetesSoftwareOptions } from './options.ts';
export { createKubernetesSoftware } from './software.ts';
