// Names on objects that users and other programs may rely on. `docs/reference/annotations-and-labels.md` is generated
// from this list. A test compares the list with all such names in the program, in both directions.

export interface WellKnownName {
  readonly type: 'annotation' | 'label' | 'taint' | 'finalizer' | 'condition' | 'class' | 'Secret type';
  /** `user`: set by people; `capstan`: set by the program and read by people */
  readonly by: 'user' | 'capstan';
  readonly on: string;
  readonly meaning: string;
}

/** Marks objects that are part of the program or that represent its controllers. */
export const builtInAnnotation = 'capstan.dev/built-in';

type Rest = readonly [on: string, meaning: string];

function names(
  type: WellKnownName['type'],
  by: WellKnownName['by'],
  table: Readonly<Record<string, Rest>>,
): [string, WellKnownName][] {
  return Object.entries(table).map(([name, [on, meaning]]) => [name, { type, by, on, meaning }]);
}

/** Keyed by name; `*` stands for a variable part. */
export const wellKnownNames: ReadonlyMap<string, WellKnownName> = new Map([
  ...names('annotation', 'user', {
    'k0smotron.io/cluster-spec-hash': [
      'Cluster of k0smotron.io',
      "k0smotron's own program created the control plane, and copied its spec.",
    ],
    'clusterctl.cluster.x-k8s.io/block-move': ['any object', 'A move waits while an object has this annotation.'],
    'lattice.dev/image': [
      'LatticeCluster',
      'Image of the controllers in the cluster. Default: the image of the parent.',
    ],
    'lattice.dev/lost': [
      'LatticeCluster that is deleted',
      'The cluster is permanently lost. Capstan does not try to move its objects back.',
    ],
    'lattice.dev/new-token': [
      'LatticeCluster at its parent',
      'Creates a new token. The certificate that the cluster gets with it replaces the previous one.',
    ],
    'stacks.capstan.dev/skip-addon-gate': ['Cluster', 'Upgrades do not wait for the add-ons of the new class.'],
    'stacks.capstan.dev/stage-timeout': [
      'Cluster',
      'How long a stage of the add-ons may take before it counts as stuck. Default: 10m.',
    ],
    'capstan.dev/write-warning': [
      'CustomResourceDefinition',
      'Clients that write an object of the kind get this text as a warning.',
    ],
    'certs.kamaji.clastix.io/rotate': [
      'Secrets of a control plane in Pods',
      'Any value replaces the certificate or authority in the Secret.',
    ],
    'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size': [
      'MachineDeployment, MachineSet',
      'Largest size the cluster autoscaler may choose.',
    ],
    'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size': [
      'MachineDeployment, MachineSet',
      'Smallest size the cluster autoscaler may choose.',
    ],
    'cluster.x-k8s.io/delete-machine': [
      'Machine',
      'Deletes this machine first when its MachineSet or control plane scales down.',
    ],
    'cluster.x-k8s.io/disable-machine-create': [
      'MachineSet',
      'The MachineSet creates no machines while it has this annotation.',
    ],
    'cluster.x-k8s.io/managed-by': [
      'infrastructure clusters',
      'Another program manages the infrastructure of the cluster.',
    ],
    'cluster.x-k8s.io/paused': ['every kind', 'The object is not reconciled while it has this annotation.'],
    'cluster.x-k8s.io/remediate-machine': ['Machine', 'Makes a MachineHealthCheck replace the machine.'],
    'cluster.x-k8s.io/skip-remediation': ['Machine', 'No MachineHealthCheck replaces the machine.'],
    'controlplane.cluster.x-k8s.io/backup-directory': [
      'control planes in Pods',
      'Refused. The operator chooses the directory with --backup-directory.',
    ],
    'controlplane.cluster.x-k8s.io/backup-schedule': [
      'control planes in Pods',
      'When etcd is backed up: cron, or @daily and the like.',
    ],
    'controlplane.cluster.x-k8s.io/backup-secret': [
      'control planes in Pods',
      'Secret with accessKeyID, secretAccessKey, host, region and bucket of an S3 bucket for backups.',
    ],
    'controlplane.cluster.x-k8s.io/cloud-credentials': [
      'control planes in Pods',
      'Secrets with cloud credentials to write into the workload cluster, or none.',
    ],
    'controlplane.cluster.x-k8s.io/encrypt-secrets': [
      'control planes in Pods',
      'true stores Secrets of the workload cluster encrypted.',
    ],
    'controlplane.cluster.x-k8s.io/restore': [
      'control planes in Pods, RKE2ControlPlane',
      'Name of a backup or snapshot; for control planes in Pods also latest. Each new value restores once.',
    ],
    'controlplane.cluster.x-k8s.io/restore-from': [
      'control planes in Pods',
      'Control plane that the backup is from, if it is another one.',
    ],
    'controlplane.cluster.x-k8s.io/restore-token': [
      'control planes in Pods',
      'A new value restores the same backup again.',
    ],
    'controlplane.cluster.x-k8s.io/rotate-ca': [
      'control planes in Pods',
      'Each new value rotates the authority of the API.',
    ],
    'controlplane.cluster.x-k8s.io/rotate-etcd-ca': [
      'control planes in Pods',
      'Each new value rotates the authority of etcd.',
    ],
    'controlplane.cluster.x-k8s.io/rotate-front-proxy-ca': [
      'control planes in Pods',
      'Each new value rotates the front proxy authority.',
    ],
    'controlplane.cluster.x-k8s.io/rotate-sa': [
      'control planes in Pods',
      'Each new value rotates the key that signs service account tokens.',
    ],
    'controlplane.cluster.x-k8s.io/rollout-before-certificates-expiry-days': [
      'RKE2ControlPlane',
      'Replaces machines this many days before the certificate of their API server expires.',
    ],
    'controlplane.cluster.x-k8s.io/skip-coredns': [
      'KubeadmControlPlane',
      'Capstan does not change CoreDNS of the workload cluster.',
    ],
    'controlplane.cluster.x-k8s.io/skip-kube-proxy': [
      'KubeadmControlPlane',
      'Capstan does not change kube-proxy of the workload cluster.',
    ],
    'infrastructure.cluster.x-k8s.io/abandon-cloud-resources': [
      'deleted OpenStack objects',
      'true ends a deletion without the cloud. Created resources stay in the cloud.',
    ],
    'infrastructure.cluster.x-k8s.io/delete-leftovers': [
      'OpenStackCluster',
      'Also deletes what the workload cluster created in the cloud: loadbalancers, volumes or all.',
    ],
    'kamaji.clastix.io/kubeconfig-secret-key': [
      'KamajiControlPlane',
      'Key in the admin kubeconfig Secret that the Cluster gets.',
    ],
    'kamaji.clastix.io/paused': ['TenantControlPlane', 'The object is not reconciled while it has this annotation.'],
    'machine.cluster.x-k8s.io/exclude-node-draining': ['Machine', 'Deletes the machine without draining its Node.'],
    'machine.cluster.x-k8s.io/exclude-wait-for-node-volume-detach': [
      'Machine',
      'Deletes the machine without waiting for volumes to detach.',
    ],
    'machineset.cluster.x-k8s.io/skip-preflight-checks': [
      'MachineSet, MachineDeployment',
      'Preflight checks to skip, or All.',
    ],
    'pre-drain.delete.hook.machine.cluster.x-k8s.io': [
      'Machine',
      'Prefix. The machine is not drained while it has such an annotation.',
    ],
    'pre-terminate.delete.hook.machine.cluster.x-k8s.io': [
      'Machine',
      'Prefix. The server is not deleted while the Machine has such an annotation.',
    ],
    'pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup': [
      'Machine of a KubeadmControlPlane',
      'The control plane removes the etcd member before the server is deleted.',
    ],
    'pre-terminate.delete.hook.machine.cluster.x-k8s.io/rke2-cleanup': [
      'Machine of an RKE2ControlPlane',
      'The control plane removes the etcd member before the server is deleted.',
    ],
    'runtime.cluster.x-k8s.io/inject-ca-from-secret': [
      'ExtensionConfig',
      '<namespace>/<name> of the Secret whose ca.crt verifies the server.',
    ],
    'before-upgrade.hook.cluster.cluster.x-k8s.io': [
      'Cluster',
      'Prefix. Holds the next upgrade of a topology. The part after the slash is a name of your choice.',
    ],
    'topology.capstan.dev/offered-to': [
      'ClusterClass',
      'Other namespaces whose Clusters may use the class, separated by commas; `*` means all. Others need a ReferenceGrant.',
    ],
    'topology.capstan.dev/control-plane-replicas-variable': [
      'ClusterClass',
      'Variable that sets the replicas of the control plane. It wins over the field of the topology.',
    ],
    'topology.cluster.x-k8s.io/defer-upgrade': [
      'metadata of workers in a topology',
      'These workers are not upgraded while they have this annotation.',
    ],
    'topology.cluster.x-k8s.io/hold-upgrade-sequence': [
      'metadata of workers in a topology',
      'These workers and all after them are not upgraded while they have this annotation.',
    ],
    'topology.cluster.x-k8s.io/dry-run': ['Cluster', 'Set by dry-run requests of topology tools.'],
    'topology.cluster.x-k8s.io/upgrade-concurrency': [
      'Cluster',
      'How many MachineDeployments of a topology are upgraded at once.',
    ],
    'unsafe.topology.cluster.x-k8s.io/disable-update-class-name-check': [
      'Cluster',
      'Allows another class without the compatibility check.',
    ],
    'unsafe.topology.cluster.x-k8s.io/disable-update-version-check': [
      'Cluster',
      'Allows another version without the version check.',
    ],
  }),
  ...names('label', 'user', {
    'lattice.dev/cluster': [
      'namespace of a LatticeCluster, and its objects',
      'Name of the LatticeCluster. On an existing namespace it permits the cluster to use the namespace.',
    ],
    'cluster.x-k8s.io/drain': ['Pods of a workload cluster', 'skip or wait-completed: how a drain treats the Pod.'],
    'cluster.x-k8s.io/interruptible': [
      'infrastructure machines and Nodes',
      'The cloud may remove the server at any time.',
    ],
    'cluster.x-k8s.io/watch-filter': [
      'every kind',
      'Only the instance with the same --watch-filter reconciles the object.',
    ],
  }),
  ...names('annotation', 'capstan', {
    'stacks.capstan.dev/digest': [
      'ClusterStackRelease',
      'Digest of the files at the first use. Other files are refused. Remove the annotation to accept the current files.',
    ],
    'stacks.capstan.dev/served-hook': ['ClusterAddon', 'Hook and class whose stages ran last.'],
    'stacks.capstan.dev/running-class': ['ClusterAddon', 'Class whose stages run.'],
    'stacks.capstan.dev/stage-since': ['ClusterAddon', 'The running stage, and its start time.'],
    'stacks.capstan.dev/release': ['objects of a release', 'Name of the ClusterStackRelease that brought them.'],
    'capstan.dev/built-in': [
      'CustomResourceDefinition; Deployments and Pods',
      'The definition is part of the program. Deployments and Pods are placeholders for built-in controllers; the value names their area.',
    ],
    'clusterctl.cluster.x-k8s.io/delete-for-move': [
      'objects of a moved cluster',
      'The object was moved to another management API.',
    ],
    'left-nodes.capstan.dev': [
      'Cluster',
      'Prefix before the uid of a deleted Machine. Node and provider ID of that machine. The Node is deleted when the workload API answers.',
    ],
    'shares.capstan.dev/members': [
      'Lease of a process that shares the work',
      'The members that its holder knows; empty while it leaves.',
    ],
    'shares.capstan.dev/clusters': ['Lease of a process that shares the work', 'Number of clusters of its holder.'],
    'capstan.dev/move': ['objects that a move creates', 'Id of the move. Removed at its end.'],
    'capstan.dev/next-authority-announced': [
      'Secret',
      'When the next authority of the webhooks was published beside the current one.',
    ],
    'cluster.x-k8s.io/annotations-from-machine': ['Node', 'Annotations that come from the Machine.'],
    'cluster.x-k8s.io/cloned-from-groupkind': ['cloned objects', 'Kind of the template.'],
    'cluster.x-k8s.io/cloned-from-name': ['cloned objects', 'Name of the template.'],
    'cluster.x-k8s.io/cluster-namespace': ['Node', 'Namespace of the Cluster.'],
    'cluster.x-k8s.io/conversion-data': [
      'every kind in an old version',
      'Data for which the old version has no field.',
    ],
    'cluster.x-k8s.io/labels-from-machine': ['Node', 'Labels that come from the Machine.'],
    'cluster.x-k8s.io/machine': ['Node', 'Name of the Machine.'],
    'cluster.x-k8s.io/owner-kind': ['Node', 'Kind of the owner of the Machine.'],
    'cluster.x-k8s.io/owner-name': ['Node', 'Name of the owner of the Machine.'],
    'cluster.x-k8s.io/taints-from-machine': ['Node', 'Taints that come from the Machine.'],
    'component.kamaji.clastix.io/*': [
      'Pods of a control plane',
      'Checksum of a certificate or file. A change restarts the Pods.',
    ],
    'controlplane.cluster.x-k8s.io/applied-checksum': [
      'objects of a control plane in Pods',
      'Checksum of the last applied content.',
    ],
    'controlplane.cluster.x-k8s.io/cloud-credentials-checksum': [
      'Secrets of a workload cluster',
      'Checksum of the credentials written.',
    ],
    'controlplane.cluster.x-k8s.io/remediation-for': ['Machine', 'The machine it replaces.'],
    'controlplane.cluster.x-k8s.io/remediation-in-progress': [
      'KubeadmControlPlane, RKE2ControlPlane',
      'A machine was deleted and its replacement is still to be created.',
    ],
    'controlplane.cluster.x-k8s.io/restored': ['RKE2ControlPlane', 'Name of the snapshot it was last restored from.'],
    'controlplane.cluster.x-k8s.io/restores': ['Machine', 'Name of the snapshot of etcd it starts from.'],
    'controlplane.cluster.x-k8s.io/rke2-server-configuration': [
      'Machine',
      'The spec.serverConfig of the RKE2ControlPlane when the Machine was created.',
    ],
    'in-place-updates.internal.cluster.x-k8s.io/acknowledged-move': [
      'MachineSet',
      'Machines that were moved to it for an in-place update and that it counts now.',
    ],
    'in-place-updates.internal.cluster.x-k8s.io/move-machines-to-machineset': [
      'MachineSet',
      'The set its machines are moved to for an in-place update instead of being deleted.',
    ],
    'in-place-updates.internal.cluster.x-k8s.io/pending-acknowledge-move': [
      'Machine',
      'The Machine was moved to another set for an in-place update. The set does not count it yet.',
    ],
    'in-place-updates.internal.cluster.x-k8s.io/receive-machines-from-machinesets': [
      'MachineSet',
      'Sets whose machines are moved to it for an in-place update.',
    ],
    'in-place-updates.internal.cluster.x-k8s.io/update-in-progress': ['Machine', 'An in-place update is in progress.'],
    'infrastructure.cluster.x-k8s.io/*-floating-ip-id': [
      'OpenStackCluster',
      'Id of the floating IP reserved for the api or the bastion.',
    ],
    'infrastructure.cluster.x-k8s.io/bastion-spec-hash': ['OpenStackServer', 'Hash of the bastion spec of the server.'],
    'infrastructure.cluster.x-k8s.io/machine-spec-hash': ['OpenStackServer', 'Hash of the machine spec of the server.'],
    'infrastructure.cluster.x-k8s.io/managed-server-group': [
      'OpenStackMachine',
      'Server group that is deleted with its last machine.',
    ],
    'infrastructure.cluster.x-k8s.io/begun-by-upstream-until': [
      'OpenStackClusterIdentity',
      'Time until which the upstream provider may have begun objects with this identity. `capstan adopt` writes it.',
    ],
    'infrastructure.cluster.x-k8s.io/begun-by': [
      'OpenStack objects',
      'The provider that began with the object before Capstan took it over. Its cloud resources have no owner mark.',
    ],
    'infrastructure.cluster.x-k8s.io/owner-mark': [
      'OpenStack objects',
      'The uid in the owner mark of the cloud resources, if it is not the uid of the object.',
    ],
    'infrastructure.cluster.x-k8s.io/server-seen-in': ['OpenStackServer', 'The cloud project the server was seen in.'],
    'kamaji.clastix.io/checksum': ['Secret of a KubeconfigGenerator', 'Checksum of the input of the kubeconfig.'],
    'machine.cluster.x-k8s.io/certificates-expiry': [
      'Machine, KubeadmConfig',
      'When the first certificate of the machine expires.',
    ],
    'machinedeployment.clusters.x-k8s.io/desired-replicas': ['MachineSet', 'Size of the MachineDeployment.'],
    'machinedeployment.clusters.x-k8s.io/max-replicas': ['MachineSet', 'Size of the MachineDeployment with its surge.'],
    'machinedeployment.clusters.x-k8s.io/revision': ['MachineDeployment, MachineSet', 'Number of the rollout.'],
    'runtime.cluster.x-k8s.io/ok-to-delete': ['Cluster', 'All BeforeClusterDelete hooks have agreed to the deletion.'],
    'lattice.dev/management': [
      'LatticeCluster',
      'pivoting, self or unpivoting: its objects are moving into the cluster, are in it, or are moving back. Without the annotation they are here.',
    ],
    'lattice.dev/parent': [
      'LatticeCluster inside of its own cluster',
      'The uid of kube-system of the parent. Only this parent may take the cluster back.',
    ],
    'runtime.cluster.x-k8s.io/pending-hooks': ['Cluster, Machine', 'Hooks to call at the end of a step.'],
    'storage.kamaji.clastix.io/*': ['Pods of a control plane', 'Checksum of the storage settings.'],
    'topology.internal.cluster.x-k8s.io/upgrade-step': [
      'Cluster',
      'Version that an upgrade of a topology currently passes.',
    ],
  }),
  ...names('label', 'capstan', {
    'shares.capstan.dev/of': [
      'Lease of a process that shares the work',
      'Processes with the same value share the same clusters.',
    ],
    'lattice.dev/environment': ['Cluster of a LatticeCluster', 'Its spec.environment.'],
    'lattice.dev/pool': ['Nodes of a LatticeCluster', 'Id of the pool of workers.'],
    'lattice.dev/region': ['Cluster of a LatticeCluster', 'Its spec.region.'],
    'topology.cluster.x-k8s.io/deployment-name': [
      'objects of workers of a topology',
      'Name of the workers in the topology.',
    ],
    'topology.cluster.x-k8s.io/owned': ['objects of a topology', 'A topology of a Cluster created the object.'],
    'clusterstack.x-k8s.io/instance': [
      'objects of a release, and of its add-ons',
      '`owned`: a cluster stack maintains the object.',
    ],
    'cluster.x-k8s.io/aggregate-to-manager': ['ClusterRole', 'Its rules are added to those of the controllers.'],
    'cluster.x-k8s.io/cluster-name': ['everything of a cluster', 'Name of the Cluster. On Nodes an annotation.'],
    'cluster.x-k8s.io/control-plane': ['Machine and its objects', 'Belongs to a control plane machine.'],
    'cluster.x-k8s.io/control-plane-name': ['Machine', 'Name of the control plane.'],
    'cluster.x-k8s.io/deployment-name': ['Machine, MachineSet', 'Name of the MachineDeployment.'],
    'cluster.x-k8s.io/pool-name': ['Machine', 'Name of the MachinePool.'],
    'cluster.x-k8s.io/provider': ['CustomResourceDefinition', 'Provider that brings the kind.'],
    'cluster.x-k8s.io/set-name': ['Machine', 'Name of the MachineSet.'],
    'controlplane.cluster.x-k8s.io/plane': ['Pods of etcd of a HostedControlPlane', 'Name of the control plane.'],
    'clusterctl.cluster.x-k8s.io/core': ['CustomResourceDefinition', 'For clusterctl: the inventory of providers.'],
    'clusterctl.cluster.x-k8s.io/move': ['CustomResourceDefinition', 'For clusterctl: objects of the kind are moved.'],
    'controlplane.cluster.x-k8s.io/certificate-kind': ['Secrets of a HostedControlPlane', 'Which certificate it is.'],
    'controlplane.cluster.x-k8s.io/kubeconfig': ['Secrets of a HostedControlPlane', 'It is a kubeconfig.'],
    'controlplane.cluster.x-k8s.io/kubeconfig-username': ['Secrets of a HostedControlPlane', 'User of the kubeconfig.'],
    'k0smotron.io/cluster': ['Secrets of join tokens', 'Name of the control plane.'],
    'k0smotron.io/machine-name': ['Node', 'Name of the Machine.'],
    'k0smotron.io/role': ['Secrets of join tokens', 'Role of the token.'],
    'k0smotron.io/token-request': ['Secrets of join tokens', 'Name of the JoinTokenRequest.'],
    'kamaji.clastix.io/certificate_lifecycle_controller': [
      'Secrets of a TenantControlPlane',
      'The Secret is renewed before it expires.',
    ],
    'kamaji.clastix.io/component': ['objects of a TenantControlPlane', 'Part of the control plane.'],
    'kamaji.clastix.io/cluster': ['Secrets of a TenantControlPlane for Cluster API', 'Name of the Cluster.'],
    'kamaji.clastix.io/name': ['objects of a TenantControlPlane', 'Name of the TenantControlPlane.'],
    'kamaji.clastix.io/secret': ['Secrets of a TenantControlPlane for Cluster API', 'The Secret it was copied from.'],
    'kamaji.clastix.io/tcp': ['Secrets of a TenantControlPlane for Cluster API', 'Name of the TenantControlPlane.'],
    'kamaji.clastix.io/managed-by': ['Secrets of a KubeconfigGenerator', 'Name of the KubeconfigGenerator.'],
    'kamaji.clastix.io/managed-for': ['Secrets of a KubeconfigGenerator', 'Name of the TenantControlPlane.'],
    'kamaji.clastix.io/project': ['objects of a TenantControlPlane', 'Always kamaji.'],
  }),
  ...names('taint', 'capstan', {
    'capstan.dev/simulated': ['Node', 'A label, and beside real nodes a taint: Pods on this node are simulated.'],
    'node.cluster.x-k8s.io/outdated-revision': ['Node', 'A newer MachineSet replaces the Node.'],
    'node.cluster.x-k8s.io/uninitialized': ['Node', 'The Node does not have the labels of its Machine yet.'],
  }),
  ...names('finalizer', 'capstan', {
    'clusterstackrelease.clusterstack.x-k8s.io': [
      'ClusterStackRelease',
      'Its class and templates are deleted first, when no Cluster uses them.',
    ],
    'machinedeployment.topology.cluster.x-k8s.io': [
      'MachineDeployment',
      'From Cluster API, on objects of its topologies. Removed when the object is deleted.',
    ],
    'machineset.topology.cluster.x-k8s.io': [
      'MachineSet',
      'From Cluster API, on objects of its topologies. Removed when the object is deleted.',
    ],
    'addons.cluster.x-k8s.io': ['ClusterResourceSet', 'The record of applied objects is cleaned up first.'],
    'capstan.dev/provisioning': ['PersistentVolume', 'The directory of the volume is deleted first.'],
    'cluster.x-k8s.io/machinedeployment': ['MachineDeployment', 'Its MachineSets are deleted first.'],
    'cluster.x-k8s.io/machineset': ['MachineSet', 'Its Machines are deleted first.'],
    'jointokenrequests.k0smotron.io/finalizer': ['JoinTokenRequest', 'The token is revoked first.'],
    'k0smotron.io/finalizer': ['Cluster of k0smotron.io', 'The Pods of the control plane are deleted first.'],
    'kamaji.clastix.io/TenantControlPlane': ['DataStore', 'A TenantControlPlane uses it.'],
    'lattice.dev/unpivot': ['LatticeCluster', 'Its Cluster and its cloud resources are deleted first.'],
    'openstack.k-orc.cloud/image': [
      'Image',
      'The image in the cloud is deleted first, if it was created for the object.',
    ],
    'openstackfloatingippool.infrastructure.cluster.x-k8s.io/delete-floating-ip': [
      'IPAddress',
      'The floating IP is released first.',
    ],
    'openstackmachine.infrastructure.cluster.x-k8s.io/ip-claim': [
      'IPAddressClaim',
      'The address is removed from the server first.',
    ],
  }),
  ...names('condition', 'capstan', {
    'kamaji.clastix.io/DataStoreAllowedDeletion': ['DataStore', 'Whether the DataStore may be deleted.'],
    'kamaji.clastix.io/DataStoreValidation': ['DataStore', 'Whether the DataStore can be used.'],
  }),
  ...names('class', 'capstan', {
    'capstan.dev/directory': ['StorageClass', 'Provisioner of volumes of the embedded management API.'],
    'capstan.dev/gateway': ['GatewayClass', 'Gateway of the embedded management API.'],
    'capstan.dev/ingress': ['IngressClass', 'Ingress of the embedded management API.'],
    'capstan.dev/loopback': ['Service', 'Load balancer of the embedded management API.'],
    'controlplane.cluster.x-k8s.io/alias': ['Service', 'The Service is reached through a Gateway or Ingress.'],
  }),
  ...names('Secret type', 'user', {
    'addons.cluster.x-k8s.io/resource-set': ['Secret', 'Manifests that a ClusterResourceSet applies to clusters.'],
  }),
  ...names('Secret type', 'capstan', {
    'cluster.x-k8s.io/secret': ['Secret', 'Certificates, keys, user data and kubeconfigs of a cluster.'],
  }),
]);
