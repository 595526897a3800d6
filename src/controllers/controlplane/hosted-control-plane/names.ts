export const hostedFinalizer = 'hcp.controlplane.cluster.x-k8s.io';

/** service account issuer of every hosted cluster */
export const serviceAccountIssuer = 'https://kubernetes.default.svc';

export const auditWebhookSecretName = (clusterName: string): string => `${clusterName}-audit-webhook`;
