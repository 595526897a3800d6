const domain = 'kamaji.clastix.io';

/** of TenantControlPlanes: their data and their pods go before they do */
export const tenantFinalizer: string = `finalizer.${domain}`;
/** of DataStores that are in use */
export const dataStoreFinalizer: string = `${domain}/TenantControlPlane`;
/** of KamajiControlPlanes: their TenantControlPlane goes before they do */
export const controlPlaneFinalizer = 'kamaji.controlplane.cluster.x-k8s.io';

/** its presence stops all work on a TenantControlPlane */
export const pausedAnnotation: string = `${domain}/paused`;
/** on KamajiControlPlanes: key of the admin kubeconfig that is given to the Cluster */
export const kubeconfigKeyAnnotation: string = `${domain}/kubeconfig-secret-key`;

export const dataStoreValidation: string = `${domain}/DataStoreValidation`;
export const dataStoreAllowedDeletion: string = `${domain}/DataStoreAllowedDeletion`;

/** Under this name TenantControlPlanes are written. */
export const controlPlaneFieldManager = 'kamaji-control-plane-provider';

/** Under this name the objects of planes are written, by whoever of Kamaji's controllers. */
export const kamajiFieldManager = 'kamaji';

/** on Secrets of a KubeconfigGenerator: its name, and that of the control plane they open */
export const managedByLabel: string = `${domain}/managed-by`;
export const managedForLabel: string = `${domain}/managed-for`;

/** Labels of Secrets that are made for Cluster API. */
export const capiSecretLabels = (secret: string, cluster: string, tenant: string): Record<string, string> => ({
  [`${domain}/component`]: 'capi',
  [`${domain}/secret`]: secret,
  [`${domain}/cluster`]: cluster,
  [`${domain}/tcp`]: tenant,
});
