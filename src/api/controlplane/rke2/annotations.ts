/** on an RKE2ControlPlane, which has no field for it: days before the expiry of a certificate */
export const rolloutBeforeExpiryAnnotation = 'controlplane.cluster.x-k8s.io/rollout-before-certificates-expiry-days';
