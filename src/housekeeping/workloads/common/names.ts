/** field manager of the workload controllers */
export const fieldManager = 'kube-controller-manager';
export const podTemplateHashLabel = 'pod-template-hash';
export const revisionHashLabel = 'controller-revision-hash';
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
