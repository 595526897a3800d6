// Labels, annotations and other names of the contract with users and providers. Those that the kinds need are in
// src/api.

export const controlPlaneLabel = 'cluster.x-k8s.io/control-plane';
export const controlPlaneNameLabel = 'cluster.x-k8s.io/control-plane-name';
export const machineTemplateHashLabel = 'machine-template-hash';
export const watchFilterLabel = 'cluster.x-k8s.io/watch-filter';
export const interruptibleLabel = 'cluster.x-k8s.io/interruptible';
/** label of Pods in a workload cluster: `skip` or `wait-completed` */
export const drainLabel = 'cluster.x-k8s.io/drain';

export const pausedAnnotation = 'cluster.x-k8s.io/paused';
export const managedByAnnotation = 'cluster.x-k8s.io/managed-by';
export const deleteMachineAnnotation = 'cluster.x-k8s.io/delete-machine';
export const disableMachineCreateAnnotation = 'cluster.x-k8s.io/disable-machine-create';
export const skipRemediationAnnotation = 'cluster.x-k8s.io/skip-remediation';
/** reason of an infrastructure machine's Ready whose server is permanently gone */
export const infrastructureGoneReason = 'InstanceGone';
export const remediateMachineAnnotation = 'cluster.x-k8s.io/remediate-machine';
export const clonedFromNameAnnotation = 'cluster.x-k8s.io/cloned-from-name';
export const clonedFromGroupKindAnnotation = 'cluster.x-k8s.io/cloned-from-groupkind';
export const excludeNodeDrainingAnnotation = 'machine.cluster.x-k8s.io/exclude-node-draining';
export const excludeVolumeDetachAnnotation = 'machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach';
export const certificatesExpiryAnnotation = 'machine.cluster.x-k8s.io/certificates-expiry';
export const preDrainHookPrefix = 'pre-drain.delete.hook.machine.cluster.x-k8s.io';
export const preTerminateHookPrefix = 'pre-terminate.delete.hook.machine.cluster.x-k8s.io';
export const revisionAnnotation = 'machinedeployment.clusters.x-k8s.io/revision';
export const desiredReplicasAnnotation = 'machinedeployment.clusters.x-k8s.io/desired-replicas';
export const maxReplicasAnnotation = 'machinedeployment.clusters.x-k8s.io/max-replicas';
export const updateInProgressAnnotation = 'in-place-updates.internal.cluster.x-k8s.io/update-in-progress';
/** annotation of a MachineSet: the set its machines are moved to instead of being deleted */
export const moveMachinesToAnnotation = 'in-place-updates.internal.cluster.x-k8s.io/move-machines-to-machineset';
/** annotation of a MachineSet: comma-separated names of sets whose machines it receives */
export const receiveMachinesFromAnnotation =
  'in-place-updates.internal.cluster.x-k8s.io/receive-machines-from-machinesets';
/** annotation of a Machine that was moved to another set and is not counted there yet */
export const pendingAcknowledgeMoveAnnotation = 'in-place-updates.internal.cluster.x-k8s.io/pending-acknowledge-move';
/** annotation of a MachineSet: comma-separated names of received machines that are counted now */
export const acknowledgedMoveAnnotation = 'in-place-updates.internal.cluster.x-k8s.io/acknowledged-move';
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Control planes in Pods that provide the API endpoint themselves; infrastructure must wait for it. */
export const hostedControlPlaneKinds: ReadonlySet<string> = new Set([
  'K0smotronControlPlane',
  'KamajiControlPlane',
  'HostedControlPlane',
]);

export const isHostedControlPlane = (reference: { readonly kind: string } | undefined): boolean =>
  reference !== undefined && hostedControlPlaneKinds.has(reference.kind);

/** Pre-terminate hook by control plane kind; blocks the deletion of a machine until its etcd member is removed. */
export const cleanupHooks: Readonly<Record<'KubeadmControlPlane' | 'RKE2ControlPlane', string>> = {
  KubeadmControlPlane: `${preTerminateHookPrefix}/kcp-cleanup`,
  RKE2ControlPlane: `${preTerminateHookPrefix}/rke2-cleanup`,
};

/** Port where rke2 machines register with a server. */
export const supervisorPort = 9345;

// Annotations of Nodes in a workload cluster.
export const nodeClusterNameAnnotation = 'cluster.x-k8s.io/cluster-name';
export const nodeClusterNamespaceAnnotation = 'cluster.x-k8s.io/cluster-namespace';
export const nodeMachineAnnotation = 'cluster.x-k8s.io/machine';
export const nodeOwnerKindAnnotation = 'cluster.x-k8s.io/owner-kind';
export const nodeOwnerNameAnnotation = 'cluster.x-k8s.io/owner-name';
export const labelsFromMachineAnnotation = 'cluster.x-k8s.io/labels-from-machine';
export const annotationsFromMachineAnnotation = 'cluster.x-k8s.io/annotations-from-machine';
export const taintsFromMachineAnnotation = 'cluster.x-k8s.io/taints-from-machine';
export const uninitializedTaint = 'node.cluster.x-k8s.io/uninitialized';
export const outdatedRevisionTaint = 'node.cluster.x-k8s.io/outdated-revision';

export const clusterFinalizer = 'cluster.cluster.x-k8s.io';
export const machineFinalizer = 'machine.cluster.x-k8s.io';
export const openStackMachineFinalizer = 'openstackmachine.infrastructure.cluster.x-k8s.io';
export const machineSetFinalizer = 'cluster.x-k8s.io/machineset';
export const machineDeploymentFinalizer = 'cluster.x-k8s.io/machinedeployment';

/** type of every Secret that Capstan keeps for a cluster */
export const clusterSecretType = 'cluster.x-k8s.io/secret';

export type ClusterSecretPurpose =
  | 'ca'
  | 'etcd'
  | 'proxy'
  | 'sa'
  | 'apiserver-etcd-client'
  | 'kubeconfig'
  // rke2: CAs of clients and etcd peers, and the join token
  | 'cca'
  | 'peer-etcd'
  | 'token';

export function clusterSecretName(cluster: string, purpose: ClusterSecretPurpose): string {
  return `${cluster}-${purpose}`;
}
/**
 * Annotation of an OpenStackMachine, from its template: servers of one control plane, deployment or set get a server
 * group of their own with this policy. `anti-affinity`, `soft-anti-affinity`, `affinity` or `soft-affinity`.
 */
export const managedServerGroupAnnotation = 'infrastructure.cluster.x-k8s.io/managed-server-group';
