export type { EtcdAlarm, EtcdClient, EtcdMember, EtcdStatus, EtcdTarget, OpenEtcd } from './etcd-client/types.ts';
export { hostedFinalizer } from './hosted-control-plane/names.ts';
export {
  adoptionProblems,
  type ForeignPlane,
  k0smotronNames,
  keptSecrets,
  releaseProblems,
} from './k0smotron/adoption.ts';
export { controlPlaneFinalizer as k0smotronFinalizer } from './k0smotron/names.ts';
export { controlPlaneFinalizer as kamajiFinalizer } from './kamaji/names.ts';
export { kubeadmProvider } from './kubeadm/provider.ts';
export { rolloutReasons } from './machine-plane/decisions/rollout.ts';
export { type PlaneRehearsal, rehearsePlane } from './machine-plane/rehearsal.ts';
export { appliedAnnotation } from './plane-driver/apply-objects.ts';
export { rke2Provider } from './rke2/provider.ts';
export * from './setup.ts';
