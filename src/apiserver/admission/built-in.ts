import type { Clock, Random } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import type { AccessControl } from '../auth/index.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { certificateSigners } from './certificate-signers.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { limitRanger } from './limit-ranger.ts';
import { nodeRestriction } from './node-restriction.ts';
import { podPriority, podTolerations } from './pod-defaults.ts';
import { rbacEscalation } from './rbac-escalation.ts';
import { runtimeClassAdmission } from './runtime-class.ts';
import { serviceAccountAdmission } from './service-account.ts';
import { storageInUseProtection } from './storage-protection.ts';
import type { AdmissionStep } from './types.ts';

/** Optional steps, with the names that kube-apiserver uses. */
export type AdmissionPlugin =
  | 'LimitRanger'
  | 'ServiceAccount'
  | 'NodeRestriction'
  | 'Priority'
  | 'DefaultTolerationSeconds'
  | 'DefaultStorageClass'
  | 'StorageObjectInUseProtection'
  | 'RuntimeClass'
  | 'DefaultIngressClass'
  | 'ResourceQuota';

/** Steps that depend on a controller. Without it they would refuse valid objects or block deletions. */
export const controllerBackedPlugins: readonly AdmissionPlugin[] = ['ServiceAccount', 'StorageObjectInUseProtection'];

export interface BuiltInAdmissionOptions {
  store: Store<StoredObject>;
  access: AccessControl;
  clock: Clock;
  random: Random;
  /** restricts kubelets to their own node */
  nodes: boolean;
}

/** Builds the built-in admission steps in the order of kube-apiserver. They run before webhooks and policies. */
export function builtInAdmission(options: BuiltInAdmissionOptions): AdmissionStep[] {
  const { store, access, clock, random, nodes } = options;
  return [
    limitRanger(store),
    serviceAccountAdmission({ store, clock, random }),
    ...(nodes ? [nodeRestriction({ store, authorizer: access.authorizer })] : []),
    podPriority(store),
    podTolerations,
    defaultStorageClass(store),
    storageInUseProtection,
    runtimeClassAdmission(store),
    defaultIngressClass(store),
    rbacEscalation(access.rbacIndex, access.authorizer),
    certificateSigners(access.authorizer),
  ];
}
