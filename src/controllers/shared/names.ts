// Names on objects that are part of the contract with users and providers. Those the kinds themselves need are in the api room.

export const controlPlaneLabel = 'cluster.x-k8s.io/control-plane';
export const controlPlaneNameLabel = 'cluster.x-k8s.io/control-plane-name';
export const machineTemplateHashLabel = 'machine-template-hash';
export const watchFilterLabel = 'cluster.x-k8s.io/watch-filter';
export const interruptibleLabel = 'cluster.x-k8s.io/interruptible';
/** on Pods of a workload cluster: `skip` or `wait-completed` */
export const drainLabel = 'cluster.x-k8s.io/drain';

export const pausedAnnotation = 'cluster.x-k8s.io/paused';
export const managedByAnnotation = 'cluster.x-k8s.io/managed-by';
export const deleteMachineAnnotation = 'cluster.x-k8s.io/delete-machine';
export const disableMachineCreateAnnotation = 'cluster.x-k8s.io/disable-machine-create';
export const skipRemediationAnnotation = 'cluster.x-k8s.io/skip-remediation';
/** reason of an infrastructure machine's Ready once its server is gone for good */
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
/** on a MachineSet: where its machines go instead of being deleted */
export const moveMachinesToAnnotation = 'in-place-updates.internal.cluster.x-k8s.io/move-machines-to-machineset';
/** on a MachineSet: names of those whose machines it takes, with commas between them */
export const receiveMachinesFromAnnotation =
  'in-place-updates.internal.cluster.x-k8s.io/receive-machines-from-machinesets';
/** on a Machine that was moved to another set and is not counted there yet */
export const pendingAcknowledgeMoveAnnotation = 'in-place-updates.internal.cluster.x-k8s.io/pending-acknowledge-move';
/** on a MachineSet: names of machines that were moved to it and are counted now, with commas between them */
export const acknowledgedMoveAnnotation = 'in-place-updates.internal.cluster.x-k8s.io/acknowledged-move';
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Control planes that run as Pods and say themselves where their API is: infrastructure must wait for that. */
export const hostedControlPlaneKinds: ReadonlySet<string> = new Set([
  'K0smotronControlPlane',
  'KamajiControlPlane',
  'HostedControlPlane',
]);

export const isHostedControlPlane = (reference: { readonly kind: string } | undefined): boolean =>
  reference !== undefined && hostedControlPlaneKinds.has(reference.kind);

/** By kind of control plane: blocks the end of one of its machines until its etcd member has left. */
export const cleanupHooks: Readonly<Record<'KubeadmControlPlane' | 'RKE2ControlPlane', string>> = {
  KubeadmControlPlane: `${preTerminateHookPrefix}/kcp-cleanup`,
  RKE2ControlPlane: `${preTerminateHookPrefix}/rke2-cleanup`,
};

/** Where servers of rke2 take registrations of machines, beside the API. */
export const supervisorPort = 9345;

// On Nodes of a workload cluster.
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
export const machineSetFinalizer = 'cluster.x-k8s.io/machineset';
export const machineDeploymentFinalizer = 'cluster.x-k8s.io/machinedeployment';

/** type of every Secret this project keeps for a cluster */
export const clusterSecretType = 'cluster.x-k8s.io/secret';

export type ClusterSecretPurpose =
  | 'ca'
  | 'etcd'
  | 'proxy'
  | 'sa'
  | 'apiserver-etcd-client'
  | 'kubeconfig'
  // of rke2: who clients and members of etcd are trusted by, and what machines join with
  | 'cca'
  | 'peer-etcd'
  | 'token';

export function clusterSecretName(cluster: string, purpose: ClusterSecretPurpose): string {
  return `${cluster}-${purpose}`;
}
