export type { EtcdAlarm, EtcdClient, EtcdMember, EtcdStatus, EtcdTarget, OpenEtcd } from './etcd-client/types.ts';
export * from './setup.ts';
