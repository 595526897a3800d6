export type { EtcdAlarm, EtcdClient, EtcdMember, EtcdStatus, EtcdTarget, OpenEtcd } from './etcd-client/types.ts';
export { rolloutReasons } from './kubeadm/decisions/rollout.ts';
export * from './setup.ts';
