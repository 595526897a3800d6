export type { EtcdAlarm, EtcdClient, EtcdMember, EtcdStatus, EtcdTarget, OpenEtcd } from './etcd/types.ts';
export * from './setup.ts';
