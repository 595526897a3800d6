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

/** Steps that can be left out, by the names kube-apiserver gives them. */
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

/** Steps that count on a controller: without it they would refuse what is fine or hold what should go. */
export const controllerBackedPlugins: readonly AdmissionPlugin[] = ['ServiceAccount', 'StorageObjectInUseProtection'];

export interface BuiltInAdmissionOptions {
  store: Store<StoredObject>;
  access: AccessControl;
  clock: Clock;
  random: Random;
  /** hold kubelets to their own node */
  nodes: boolean;
}

/** What kube-apiserver does to writes of built-in kinds, in its order, before others are asked. */
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
