/** on an RKE2ControlPlane, whose spec has no field for it: days before the end of a certificate */
export const rolloutBeforeExpiryAnnotation = 'controlplane.cluster.x-k8s.io/rollout-before-certificates-expiry-days';
