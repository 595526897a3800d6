export type { EtcdAlarm, EtcdClient, EtcdMember, EtcdStatus, EtcdTarget, OpenEtcd } from './kubeadm/etcd/types.ts';
export * from './setup.ts';
