import type { TypeTable } from '../schema/type-table.ts';

export const storageTypes: TypeTable = {
  alias: 'storage',
  group: 'storage.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.storage.v1',
  text: `
StorageClass kind # A kind of storage, and who makes it.
  provisioner           2  string                       required                     # Who makes the volumes.
  parameters            3  map[string]string                                         # Settings for the provisioner.
  reclaimPolicy         4  *string                      enum(Delete|Recycle|Retain)  # What happens to volumes no longer claimed; Delete by default.
  mountOptions          5  []string                     atomic                       # Options for mount.
  allowVolumeExpansion  6  *bool                                                     # Whether claims may grow.
  volumeBindingMode     7  *string                      enum(Immediate|WaitForFirstConsumer)  # Immediate (the default), or WaitForFirstConsumer to let the scheduler choose the place.
  allowedTopologies     8  []core.TopologySelectorTerm  atomic                       # Where volumes may be made.

CSIDriver kind # What a CSI driver can do and needs.
  spec  2  CSIDriverSpec  required  # What is wanted.

CSIDriverSpec
  attachRequired                      1  *bool
  podInfoOnMount                      2  *bool
  volumeLifecycleModes                3  []string        set
  storageCapacity                     4  *bool
  fsGroupPolicy                       5  *string
  tokenRequests                       6  []TokenRequest  atomic
  requiresRepublish                   7  *bool
  seLinuxMount                        8  *bool
  nodeAllocatableUpdatePeriodSeconds  9  *int64

TokenRequest # Asks for a token of a service account.
  audience           1  string  required
  expirationSeconds  2  *int64

CSINode kind # The CSI drivers on a node.
  spec  2  CSINodeSpec  required  # What is wanted.

CSINodeSpec
  drivers  1  []CSINodeDriver  required listmap(name) merge(name)

CSINodeDriver
  name          1  string                required
  nodeID        2  string                required
  topologyKeys  3  []string              always atomic
  allocatable   4  *VolumeNodeResources

VolumeNodeResources
  count  1  *int32

CSIStorageCapacity kind # How much room a class has in one place.
  nodeTopology       2  *meta.LabelSelector
  storageClassName   3  string               required
  capacity           4  *Quantity
  maximumVolumeSize  5  *Quantity

VolumeAttachment kind # A request to attach a volume to a node, or to detach it.
  spec    2  VolumeAttachmentSpec    required  # What is wanted.
  status  3  VolumeAttachmentStatus            # What was observed; written by the system.

VolumeAttachmentSpec
  attacher  1  string                  required  # The driver that does it.
  source    2  VolumeAttachmentSource  required  # The volume.
  nodeName  3  string                  required  # The node.

VolumeAttachmentSource
  persistentVolumeName  1  *string
  inlineVolumeSpec      2  *core.PersistentVolumeSpec

VolumeAttachmentStatus
  attached            1  bool               required  # Whether it is attached.
  attachmentMetadata  2  map[string]string
  attachError         3  *VolumeError
  detachError         4  *VolumeError

VolumeError
  time       1  Time
  message    2  string
  errorCode  3  *int32

VolumeAttributesClass kind # Settings of volumes that can be changed while in use.
  driverName  2  string             required
  parameters  3  map[string]string
`,
};
