// Entry point of hosting: turns the spec of a hosted control plane into objects, certificates and steps.
export * from './certificates/plan.ts';
export * from './certificates/renewals.ts';
export * from './certificates/rotation.ts';
export type * from './certificates/types.ts';
export { loadBalancerHost, planeEndpoint } from './endpoint.ts';
export * from './etcd/images.ts';
export * from './etcd/members.ts';
export * from './etcd/quorum.ts';
export { parseSettings } from './etcd/settings.ts';
export { etcdStep } from './etcd/step.ts';
export type * from './etcd/types.ts';
export type * from './facts.ts';
export * from './kubeadm-documents/index.ts';
export * from './naming/index.ts';
export * from './network.ts';
export {
  type AuditTarget,
  auditRelayConfig,
  auditRelayKey,
  auditRelayUrl,
  auditTargetProblem,
} from './objects/audit-relay.ts';
export { encryptionFile } from './objects/component-files.ts';
export { overriddenArguments, retiredArguments } from './objects/component-flags.ts';
export { etcdObjects, quotaBytes } from './objects/etcd.ts';
export { settingsWithoutEffect } from './objects/hardened.ts';
export { planeObjects } from './objects/index.ts';
export { unsuitableCharts } from './objects/k0s-charts.ts';
export { checksumOf } from './objects/metadata.ts';
export { PatchRefusedError } from './objects/patches.ts';
export { placeOf } from './objects/pods.ts';
export { policyNames } from './objects/policies.ts';
export { specProblems } from './problems.ts';
export type * from './result.ts';
export type * from './spec.ts';
export * from './version/images.ts';
export * from './version/steps.ts';
export { cloudCredentialObjects } from './workload/cloud-credentials.ts';
export { workloadObjects } from './workload/index.ts';
export { takesWriteLimits } from './workload/write-limits.ts';
