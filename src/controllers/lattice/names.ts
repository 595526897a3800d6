/** label of all objects of a LatticeCluster and of its namespace: its name */
export const latticeClusterLabel = 'lattice.dev/cluster';
/** label of nodes: their pool */
export const latticePoolLabel = 'lattice.dev/pool';
export const environmentLabel = 'lattice.dev/environment';
export const regionLabel = 'lattice.dev/region';

export const latticeFinalizer = 'lattice.dev/unpivot';
export const latticeFieldManager = 'capstan-lattice';

/** Name of the Secret with cloud credentials, next to the objects of the cluster. */
export const credentialsName = (cluster: string): string => `${cluster}-cloud-config`;
export const controlPlaneName = (cluster: string): string => `${cluster}-control-plane`;
export const addonsName = (cluster: string): string => `${cluster}-add-ons`;
