/** on everything a LatticeCluster is made of, and on its namespace: its name */
export const latticeClusterLabel = 'lattice.dev/cluster';
/** on nodes: the pool they are of */
export const latticePoolLabel = 'lattice.dev/pool';
export const environmentLabel = 'lattice.dev/environment';
export const regionLabel = 'lattice.dev/region';

export const latticeFinalizer = 'lattice.dev/unpivot';
export const latticeFieldManager = 'capstan-lattice';

/** The Secret with the credentials of the cloud, beside the objects of the cluster. */
export const credentialsName = (cluster: string): string => `${cluster}-cloud-config`;
export const controlPlaneName = (cluster: string): string => `${cluster}-control-plane`;
export const addonsName = (cluster: string): string => `${cluster}-add-ons`;
