const domain = 'kamaji.clastix.io';

/** finalizer of TenantControlPlanes: data and Pods are deleted first */
export const tenantFinalizer: string = `finalizer.${domain}`;
/** finalizer of DataStores in use */
export const dataStoreFinalizer: string = `${domain}/TenantControlPlane`;
/** finalizer of KamajiControlPlanes: the TenantControlPlane is deleted first */
export const controlPlaneFinalizer = 'kamaji.controlplane.cluster.x-k8s.io';

/** annotation that pauses the reconcile of a TenantControlPlane */
export const pausedAnnotation: string = `${domain}/paused`;
/** annotation of KamajiControlPlanes: key of the admin kubeconfig that the Cluster receives */
export const kubeconfigKeyAnnotation: string = `${domain}/kubeconfig-secret-key`;

export const dataStoreValidation: string = `${domain}/DataStoreValidation`;
export const dataStoreAllowedDeletion: string = `${domain}/DataStoreAllowedDeletion`;

export const controlPlaneFieldManager = 'kamaji-control-plane-provider';

/** Field manager of plane objects, shared by all Kamaji controllers. */
export const kamajiFieldManager = 'kamaji';

/** labels of generated Secrets: the generator, and the control plane the kubeconfig is for */
export const managedByLabel: string = `${domain}/managed-by`;
export const managedForLabel: string = `${domain}/managed-for`;

export const capiSecretLabels = (secret: string, cluster: string, tenant: string): Record<string, string> => ({
  [`${domain}/component`]: 'capi',
  [`${domain}/secret`]: secret,
  [`${domain}/cluster`]: cluster,
  [`${domain}/tcp`]: tenant,
});
