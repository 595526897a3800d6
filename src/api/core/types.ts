import type { TypeTable } from '../schema/type-table.ts';

export const coreTypes: TypeTable = {
  alias: 'core',
  group: '',
  version: 'v1',
  componentPrefix: 'io.k8s.api.core.v1',
  text: `
Namespace kind # A room for the names of objects; deleting it deletes what is inside.
  spec    2  NamespaceSpec    # What is wanted.
  status  3  NamespaceStatus  # What was observed; written by the system.

NamespaceSpec
  finalizers  1  []string  atomic  # Who must agree before the namespace goes away.

NamespaceStatus
  phase       1  string                enum(Active|Terminating)   # Active, or Terminating while its contents are being deleted.
  conditions  2  []NamespaceCondition  listmap(type) merge(type)  # What holds up the deletion, if anything does.

NamespaceCondition # One aspect of the state of a Namespace.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastTransitionTime  4  Time              # When the status last changed.
  reason              5  string            # Why it last changed, as one CamelCase word.
  message             6  string            # Why it last changed, for people.

ConfigMap kind # Configuration as keys and values, for pods to read.
  immutable   4  *bool              # No more changes to the data, only to the metadata.
  data        2  map[string]string  # Text values by key.
  binaryData  3  map[string]bytes   # Values that are not UTF-8 text, base64 encoded; keys must differ from those in data.

Secret kind # Small confidential data, such as passwords, tokens and keys.
  immutable   5  *bool              # No more changes to the data, only to the metadata.
  data        2  map[string]bytes   # Values by key, base64 encoded.
  stringData  4  map[string]string  # Values as plain text, for convenience when writing; merged into data and never returned.
  type        3  string             # What the data is for, and thereby which keys must be present.

ServiceAccount kind # An identity for programs that run in pods.
  secrets                       2  []ObjectReference       listmap(name) merge(name)  # Secrets that pods of this account may use.
  imagePullSecrets              3  []LocalObjectReference  atomic                     # Secrets with which to pull the images of its pods.
  automountServiceAccountToken  4  *bool                                              # Whether pods get a token mounted unless they say otherwise.

ObjectReference atomic # Points to an object, or to a part of one.
  kind             1  string  # Kind of the object.
  namespace        2  string  # Its namespace.
  name             3  string  # Its name.
  uid              4  string  # Its uid.
  apiVersion       5  string  # Its API version.
  resourceVersion  6  string  # The version of it that is meant.
  fieldPath        7  string  # The part of it that is meant.

LocalObjectReference atomic # An object in the same namespace, by name.
  name  1  string  default()  # Name of the object.

Event kind # A report that something happened to an object; kept for a limited time.
  metadata             1  meta.ObjectMeta   required
  involvedObject       2  ObjectReference   required  # The object this is about.
  reason               3  string                      # Why, as one short CamelCase word.
  message              4  string                      # What happened, for people.
  source               5  EventSource                 # The component that reported it.
  firstTimestamp       6  Time                        # When it was first seen.
  lastTimestamp        7  Time                        # When it was last seen.
  count                8  int32                       # How often it was seen.
  type                 9  string                      # Normal or Warning.
  eventTime           10  MicroTime                   # When it was first observed.
  series              11  *EventSeries                # The series this event belongs to, if it repeats.
  action              12  string                      # What was done or failed.
  related             13  *ObjectReference            # A second object that takes part.
  reportingComponent  14  string            always    # The controller that reported it.
  reportingInstance   15  string            always    # Which instance of that controller.

EventSource # Where an event comes from.
  component  1  string
  host       2  string

EventSeries # An event that keeps happening.
  count             1  int32
  lastObservedTime  2  MicroTime

Node kind # A machine that runs pods.
  spec    2  NodeSpec    # What is wanted.
  status  3  NodeStatus  # What was observed; written by the system.

NodeSpec # What is wanted of a node.
  podCIDR        1  string                        # The addresses for pods on this node.
  podCIDRs       7  []string           set merge  # The same, one per address family.
  providerID     3  string                        # The machine as the cloud knows it, PROVIDER://ID.
  unschedulable  4  bool                          # No new pods here; running ones stay.
  taints         5  []Taint            atomic     # What keeps pods away unless they tolerate it.
  configSource   6  *NodeConfigSource             # No longer used.
  externalID     2  string                        # No longer used.

Taint # Keeps pods off a node unless they tolerate it.
  key        1  string  required                                              # The name of the taint.
  value      2  string                                                        # The value that belongs to the key.
  effect     3  string  required enum(NoExecute|NoSchedule|PreferNoSchedule)  # NoSchedule, PreferNoSchedule or NoExecute.
  timeAdded  4  *Time                                                         # When a NoExecute taint was added.

NodeConfigSource
  configMap  2  *ConfigMapNodeConfigSource

ConfigMapNodeConfigSource
  namespace         1  string  required
  name              2  string  required
  uid               3  string
  resourceVersion   4  string
  kubeletConfigKey  5  string  required

NodeStatus # What is known of a node.
  capacity          1  map[string]Quantity                                     # All there is.
  allocatable       2  map[string]Quantity                                     # What pods may use of it.
  phase             3  string                enum(Pending|Running|Terminated)  # No longer filled in.
  conditions        4  []NodeCondition       listmap(type) merge(type)         # How the node is doing; Ready tells whether it takes pods.
  addresses         5  []NodeAddress         listmap(type) merge(type)         # How the node can be reached.
  daemonEndpoints   6  NodeDaemonEndpoints                                     # Ports of the daemons on the node.
  nodeInfo          7  NodeSystemInfo                                          # Versions and identifiers of the machine.
  images            8  []ContainerImage      atomic                            # Container images on the node.
  volumesInUse      9  []string              atomic                            # Attachable volumes in use by pods.
  volumesAttached  10  []AttachedVolume      atomic                            # Volumes attached to the node.
  config           11  *NodeConfigStatus
  runtimeHandlers  12  []NodeRuntimeHandler  atomic
  features         13  *NodeFeatures

NodeCondition # One aspect of the state of a Node.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastHeartbeatTime   3  Time              # When it was last heard of.
  lastTransitionTime  4  Time              # When the status last changed.
  reason              5  string            # Why it last changed, as one CamelCase word.
  message             6  string            # Why it last changed, for people.

NodeAddress # One way to reach a node.
  type     1  string  required  # What kind of address: Hostname, InternalIP, ExternalIP, InternalDNS, ExternalDNS.
  address  2  string  required

NodeDaemonEndpoints
  kubeletEndpoint  1  DaemonEndpoint

DaemonEndpoint
  Port  1  int32  required

NodeSystemInfo # Versions and identifiers of a machine.
  machineID                 1  string           required
  systemUUID                2  string           required
  bootID                    3  string           required
  kernelVersion             4  string           required
  osImage                   5  string           required
  containerRuntimeVersion   6  string           required
  kubeletVersion            7  string           required
  kubeProxyVersion          8  string           required
  operatingSystem           9  string           required
  architecture             10  string           required
  swap                     11  *NodeSwapStatus

NodeSwapStatus
  capacity  1  *int64

ContainerImage
  names      1  []string  always atomic
  sizeBytes  2  int64

AttachedVolume
  name        1  string  required
  devicePath  2  string  required

NodeConfigStatus
  assigned       1  *NodeConfigSource
  active         2  *NodeConfigSource
  lastKnownGood  3  *NodeConfigSource
  error          4  string

NodeRuntimeHandler
  name      1  string                       always
  features  2  *NodeRuntimeHandlerFeatures

NodeRuntimeHandlerFeatures
  recursiveReadOnlyMounts  1  *bool
  userNamespaces           2  *bool

NodeFeatures
  supplementalGroupsPolicy  1  *bool

Pod kind # Containers that run together on one node and share network and volumes.
  spec    2  PodSpec    # What is wanted.
  status  3  PodStatus  # What was observed; written by the system.

PodSpec # How to run the containers of a pod.
  volumes                         1  []Volume                    listmap(name) merge(name) retainKeys  # Volumes that the containers may mount.
  initContainers                 20  []Container                 listmap(name) merge(name)  # Containers that run one after the other before the others start.
  containers                      2  []Container                 required listmap(name) merge(name)  # The containers of the pod, at least one; the list cannot change.
  ephemeralContainers            34  []EphemeralContainer        listmap(name) merge(name)  # Containers added to a running pod for debugging.
  restartPolicy                   3  string                      enum(Always|Never|OnFailure)  # When containers are restarted: Always (the default), OnFailure or Never.
  terminationGracePeriodSeconds   4  *int64                              # How long the processes have between SIGTERM and SIGKILL; 30 by default.
  activeDeadlineSeconds           5  *int64                              # How long the pod may be active before it is failed.
  dnsPolicy                       6  string                      enum(ClusterFirst|ClusterFirstWithHostNet|Default|None)  # Where names are looked up; ClusterFirst by default.
  nodeSelector                    7  map[string]string           atomic  # Labels that the node must have.
  serviceAccountName              8  string                              # The identity of the pod.
  serviceAccount                  9  string                              # Old name of serviceAccountName.
  automountServiceAccountToken   21  *bool                               # Whether a token of the service account is mounted.
  nodeName                       10  string                              # The node the pod is bound to; normally the scheduler fills it in.
  hostNetwork                    11  bool                                # Use the network of the node.
  hostPID                        12  bool                                # See the processes of the node.
  hostIPC                        13  bool                                # Use the IPC namespace of the node.
  shareProcessNamespace          27  *bool                               # Containers see the processes of each other.
  securityContext                14  *PodSecurityContext                 # Security settings for all containers.
  imagePullSecrets               15  []LocalObjectReference      listmap(name) merge(name)  # Secrets with which to pull the images.
  hostname                       16  string                              # Host name of the pod; its own name by default.
  subdomain                      17  string                              # Makes the full name HOSTNAME.SUBDOMAIN.NAMESPACE.svc.DOMAIN.
  affinity                       18  *Affinity                           # Rules on where to run, relative to nodes and other pods.
  schedulerName                  19  string                              # The scheduler that should place the pod.
  tolerations                    22  []Toleration                atomic  # The taints this pod can live with.
  hostAliases                    23  []HostAlias                 listmap(ip) merge(ip)  # Lines to add to /etc/hosts.
  priorityClassName              24  string                              # How important the pod is, by the name of a PriorityClass.
  priority                       25  *int32                              # How important the pod is, as a number; taken from the class.
  dnsConfig                      26  *PodDNSConfig                       # DNS settings on top of the policy.
  readinessGates                 28  []PodReadinessGate          atomic  # Conditions that must also be true before the pod counts as ready.
  runtimeClassName               29  *string                             # The RuntimeClass to run the pod with.
  enableServiceLinks             30  *bool                               # Whether services appear as environment variables.
  preemptionPolicy               31  *string                     enum(Never|PreemptLowerPriority)  # Whether pods of lower priority may be evicted for this one.
  overhead                       32  map[string]Quantity                 # Resources the runtime itself takes; comes from the RuntimeClass.
  topologySpreadConstraints      33  []TopologySpreadConstraint  listmap(topologyKey,whenUnsatisfiable) merge(topologyKey)  # How to spread pods over zones, nodes and the like.
  setHostnameAsFQDN              35  *bool                               # Use the full name as host name.
  os                             36  *PodOS                              # The operating system the containers need.
  hostUsers                      37  *bool                               # Whether to use the user namespace of the node.
  schedulingGates                38  []PodSchedulingGate         listmap(name) merge(name)  # While any is present, the pod is not scheduled.
  resourceClaims                 39  []PodResourceClaim          listmap(name) merge(name) retainKeys  # Claims for devices and the like that must be allocated first.
  resources                      40  *ResourceRequirements               # Resources for the pod as a whole.
  hostnameOverride               41  *string                             # Host name that wins over hostname, subdomain and the pod name.

Volume # Storage that containers of a pod can mount.
  name  1  string        required  # Name, unique in the pod.
  ...   2  VolumeSource

VolumeSource inline
  hostPath                1  *HostPathVolumeSource               # A file or directory of the node.
  emptyDir                2  *EmptyDirVolumeSource               # An empty directory that lives as long as the pod.
  gcePersistentDisk       3  *GCEPersistentDiskVolumeSource
  awsElasticBlockStore    4  *AWSElasticBlockStoreVolumeSource
  gitRepo                 5  *GitRepoVolumeSource
  secret                  6  *SecretVolumeSource                 # The keys of a Secret as files.
  nfs                     7  *NFSVolumeSource                    # A directory of an NFS server.
  iscsi                   8  *ISCSIVolumeSource
  glusterfs               9  *GlusterfsVolumeSource
  persistentVolumeClaim  10  *PersistentVolumeClaimVolumeSource  # A claim in the same namespace.
  rbd                    11  *RBDVolumeSource
  flexVolume             12  *FlexVolumeSource
  cinder                 13  *CinderVolumeSource
  cephfs                 14  *CephFSVolumeSource
  flocker                15  *FlockerVolumeSource
  downwardAPI            16  *DownwardAPIVolumeSource            # Fields of the pod as files.
  fc                     17  *FCVolumeSource
  azureFile              18  *AzureFileVolumeSource
  configMap              19  *ConfigMapVolumeSource              # The keys of a ConfigMap as files.
  vsphereVolume          20  *VsphereVirtualDiskVolumeSource
  quobyte                21  *QuobyteVolumeSource
  azureDisk              22  *AzureDiskVolumeSource
  photonPersistentDisk   23  *PhotonPersistentDiskVolumeSource
  projected              26  *ProjectedVolumeSource              # Several sources in one directory.
  portworxVolume         24  *PortworxVolumeSource
  scaleIO                25  *ScaleIOVolumeSource
  storageos              27  *StorageOSVolumeSource
  csi                    28  *CSIVolumeSource                    # A volume of a CSI driver that lives as long as the pod.
  ephemeral              29  *EphemeralVolumeSource              # A claim that is created and deleted with the pod.
  image                  30  *ImageVolumeSource                  # The content of an image.

HostPathVolumeSource
  path  1  string   required
  type  2  *string  enum(|BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket)

EmptyDirVolumeSource
  medium     1  string
  sizeLimit  2  *Quantity

GCEPersistentDiskVolumeSource
  pdName     1  string  required
  fsType     2  string
  partition  3  int32
  readOnly   4  bool

AWSElasticBlockStoreVolumeSource
  volumeID   1  string  required
  fsType     2  string
  partition  3  int32
  readOnly   4  bool

GitRepoVolumeSource
  repository  1  string  required
  revision    2  string
  directory   3  string

SecretVolumeSource
  secretName   1  string
  items        2  []KeyToPath  atomic
  defaultMode  3  *int32
  optional     4  *bool

KeyToPath
  key   1  string  required
  path  2  string  required
  mode  3  *int32

NFSVolumeSource
  server    1  string  required
  path      2  string  required
  readOnly  3  bool

ISCSIVolumeSource
  targetPortal        1  string                 required
  iqn                 2  string                 required
  lun                 3  int32                  required
  iscsiInterface      4  string                 default(default)
  fsType              5  string
  readOnly            6  bool
  portals             7  []string               atomic
  chapAuthDiscovery   8  bool
  chapAuthSession    11  bool
  secretRef          10  *LocalObjectReference
  initiatorName      12  *string

GlusterfsVolumeSource
  endpoints  1  string  required
  path       2  string  required
  readOnly   3  bool

PersistentVolumeClaimVolumeSource
  claimName  1  string  required
  readOnly   2  bool

RBDVolumeSource
  monitors   1  []string               required atomic
  image      2  string                 required
  fsType     3  string
  pool       4  string                 default(rbd)
  user       5  string                 default(admin)
  keyring    6  string                 default(/etc/ceph/keyring)
  secretRef  7  *LocalObjectReference
  readOnly   8  bool

FlexVolumeSource
  driver     1  string                 required
  fsType     2  string
  secretRef  3  *LocalObjectReference
  readOnly   4  bool
  options    5  map[string]string

CinderVolumeSource
  volumeID   1  string                 required
  fsType     2  string
  readOnly   3  bool
  secretRef  4  *LocalObjectReference

CephFSVolumeSource
  monitors    1  []string               required atomic
  path        2  string
  user        3  string
  secretFile  4  string
  secretRef   5  *LocalObjectReference
  readOnly    6  bool

FlockerVolumeSource
  datasetName  1  string
  datasetUUID  2  string

DownwardAPIVolumeSource
  items        1  []DownwardAPIVolumeFile  atomic
  defaultMode  2  *int32

DownwardAPIVolumeFile
  path              1  string                  required
  fieldRef          2  *ObjectFieldSelector
  resourceFieldRef  3  *ResourceFieldSelector
  mode              4  *int32

ObjectFieldSelector atomic
  apiVersion  1  string
  fieldPath   2  string  required

ResourceFieldSelector atomic
  containerName  1  string
  resource       2  string    required
  divisor        3  Quantity

FCVolumeSource
  targetWWNs  1  []string  atomic
  lun         2  *int32
  fsType      3  string
  readOnly    4  bool
  wwids       5  []string  atomic

AzureFileVolumeSource
  secretName  1  string  required
  shareName   2  string  required
  readOnly    3  bool

ConfigMapVolumeSource
  ...          1  LocalObjectReference
  items        2  []KeyToPath           atomic
  defaultMode  3  *int32
  optional     4  *bool

VsphereVirtualDiskVolumeSource
  volumePath         1  string  required
  fsType             2  string
  storagePolicyName  3  string
  storagePolicyID    4  string

QuobyteVolumeSource
  registry  1  string  required
  volume    2  string  required
  readOnly  3  bool
  user      4  string
  group     5  string
  tenant    6  string

AzureDiskVolumeSource
  diskName     1  string   required
  diskURI      2  string   required
  cachingMode  3  *string  default(ReadWrite) enum(None|ReadOnly|ReadWrite)
  fsType       4  *string  default(ext4)
  readOnly     5  *bool    default(false)
  kind         6  *string  default(Shared) enum(Dedicated|Managed|Shared)

PhotonPersistentDiskVolumeSource
  pdID    1  string  required
  fsType  2  string

ProjectedVolumeSource
  sources      1  []VolumeProjection  always atomic
  defaultMode  2  *int32

VolumeProjection
  secret               1  *SecretProjection
  downwardAPI          2  *DownwardAPIProjection
  configMap            3  *ConfigMapProjection
  serviceAccountToken  4  *ServiceAccountTokenProjection
  clusterTrustBundle   5  *ClusterTrustBundleProjection
  podCertificate       6  *PodCertificateProjection

SecretProjection
  ...       1  LocalObjectReference
  items     2  []KeyToPath           atomic
  optional  4  *bool

DownwardAPIProjection
  items  1  []DownwardAPIVolumeFile  atomic

ConfigMapProjection
  ...       1  LocalObjectReference
  items     2  []KeyToPath           atomic
  optional  4  *bool

ServiceAccountTokenProjection
  audience           1  string
  expirationSeconds  2  *int64
  path               3  string  required

ClusterTrustBundleProjection
  name           1  *string
  signerName     2  *string
  labelSelector  3  *meta.LabelSelector
  optional       5  *bool
  path           4  string               required

PodCertificateProjection
  signerName            1  string  required omitempty
  keyType               2  string  required omitempty
  maxExpirationSeconds  3  *int32
  credentialBundlePath  4  string
  keyPath               5  string
  certificateChainPath  6  string

PortworxVolumeSource
  volumeID  1  string  required
  fsType    2  string
  readOnly  3  bool

ScaleIOVolumeSource
  gateway            1  string                 required
  system             2  string                 required
  secretRef          3  *LocalObjectReference  required
  sslEnabled         4  bool
  protectionDomain   5  string
  storagePool        6  string
  storageMode        7  string                 default(ThinProvisioned)
  volumeName         8  string
  fsType             9  string                 default(xfs)
  readOnly          10  bool

StorageOSVolumeSource
  volumeName       1  string
  volumeNamespace  2  string
  fsType           3  string
  readOnly         4  bool
  secretRef        5  *LocalObjectReference

CSIVolumeSource
  driver                1  string                 required
  readOnly              2  *bool
  fsType                3  *string
  volumeAttributes      4  map[string]string
  nodePublishSecretRef  5  *LocalObjectReference

EphemeralVolumeSource
  volumeClaimTemplate  1  *PersistentVolumeClaimTemplate

PersistentVolumeClaimTemplate
  metadata  1  meta.ObjectMeta
  spec      2  PersistentVolumeClaimSpec  required

PersistentVolumeClaimSpec
  accessModes                1  []string                    enum(ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod) atomic  # The ways it must be mountable.
  selector                   4  *meta.LabelSelector                                 # Labels of the volumes to choose from.
  resources                  2  VolumeResourceRequirements                          # How large it must be.
  volumeName                 3  string                                              # The volume it is bound to.
  storageClassName           5  *string                                             # The class to take it from; the default class when unset, none when empty.
  volumeMode                 6  *string                     enum(Block|Filesystem)  # Filesystem or Block.
  dataSource                 7  *TypedLocalObjectReference                          # A snapshot or claim to start from.
  dataSourceRef              8  *TypedObjectReference                               # Any object to start from.
  volumeAttributesClassName  9  *string

VolumeResourceRequirements
  limits    1  map[string]Quantity
  requests  2  map[string]Quantity

TypedLocalObjectReference atomic
  apiGroup  1  *string  always
  kind      2  string   required
  name      3  string   required

TypedObjectReference
  apiGroup   1  *string  always
  kind       2  string   required
  name       3  string   required
  namespace  4  *string

ImageVolumeSource
  reference   1  string
  pullPolicy  2  string  enum(Always|IfNotPresent|Never)

Container # One container of a pod.
  name                       1  string                   required                   # Name, unique in the pod; a DNS label.
  image                      2  string                                              # The image to run.
  command                    3  []string                 atomic                     # Replaces the entry point of the image; not run in a shell.
  args                       4  []string                 atomic                     # Replaces the arguments of the image.
  workingDir                 5  string                                              # Directory to start in; that of the image by default.
  ports                      6  []ContainerPort          listmap(containerPort,protocol) merge(containerPort)  # Ports the container listens on; for information.
  envFrom                   19  []EnvFromSource          atomic                     # Sources whose every key becomes an environment variable.
  env                        7  []EnvVar                 listmap(name) merge(name)  # Environment variables.
  resources                  8  ResourceRequirements                                # CPU, memory and other resources: what is needed and what is allowed.
  resizePolicy              23  []ContainerResizePolicy  atomic                     # Whether a change of resources restarts the container.
  restartPolicy             24  *string                                             # Overrides the restart policy of the pod; Always on an init container makes a sidecar.
  restartPolicyRules        25  []ContainerRestartRule   atomic
  volumeMounts               9  []VolumeMount            listmap(mountPath) merge(mountPath)  # Where volumes of the pod appear in the file system.
  volumeDevices             21  []VolumeDevice           listmap(devicePath) merge(devicePath)  # Where raw block devices appear.
  livenessProbe             10  *Probe                                              # When it fails, the container is restarted.
  readinessProbe            11  *Probe                                              # While it fails, services send no traffic here.
  startupProbe              22  *Probe                                              # Until it succeeds, the other probes wait.
  lifecycle                 12  *Lifecycle                                          # What to run after start and before stop.
  terminationMessagePath    13  string                                              # The file whose content becomes the final message.
  terminationMessagePolicy  20  string                   enum(FallbackToLogsOnError|File)  # Whether the end of the log may serve as the final message.
  imagePullPolicy           14  string                   enum(Always|IfNotPresent|Never)  # Always, Never or IfNotPresent.
  securityContext           15  *SecurityContext                                    # Security settings; win over those of the pod.
  stdin                     16  bool                                                # Keep a buffer for standard input.
  stdinOnce                 17  bool                                                # Close standard input after the first client leaves.
  tty                       18  bool                                                # Give the container a terminal; needs stdin.

ContainerPort # A port of a container.
  name           1  string                                   # Name that services can refer to.
  hostPort       2  int32                                    # Port to open on the node.
  containerPort  3  int32   required                         # The port inside the pod, 1 to 65535.
  protocol       4  string  default(TCP) enum(SCTP|TCP|UDP)  # TCP, UDP or SCTP.
  hostIP         5  string                                   # Address of the node to bind to.

EnvFromSource # A ConfigMap or Secret whose keys become environment variables.
  prefix        1  string
  configMapRef  2  *ConfigMapEnvSource
  secretRef     3  *SecretEnvSource

ConfigMapEnvSource
  ...       1  LocalObjectReference
  optional  2  *bool

SecretEnvSource
  ...       1  LocalObjectReference
  optional  2  *bool

EnvVar # An environment variable.
  name       1  string         required  # Name of the variable.
  value      2  string                   # The value; $(NAME) is replaced by earlier variables.
  valueFrom  3  *EnvVarSource            # Where to take the value from instead.

EnvVarSource
  fieldRef          1  *ObjectFieldSelector
  resourceFieldRef  2  *ResourceFieldSelector
  configMapKeyRef   3  *ConfigMapKeySelector
  secretKeyRef      4  *SecretKeySelector
  fileKeyRef        5  *FileKeySelector

ConfigMapKeySelector atomic
  ...       1  LocalObjectReference
  key       2  string                required
  optional  3  *bool

SecretKeySelector atomic
  ...       1  LocalObjectReference
  key       2  string                required
  optional  3  *bool

FileKeySelector atomic
  volumeName  1  string  required
  path        2  string  required
  key         3  string  required
  optional    4  *bool   default(false)

ResourceRequirements # What is needed and what is allowed of each resource.
  limits    1  map[string]Quantity                 # The most that may be used.
  requests  2  map[string]Quantity                 # The least that is needed; the limit by default.
  claims    3  []ResourceClaim      listmap(name)  # Resource claims of the pod used here.

ResourceClaim
  name     1  string  required
  request  2  string

ContainerResizePolicy
  resourceName   1  string  required
  restartPolicy  2  string  required

ContainerRestartRule
  action     1  string                            required omitempty
  exitCodes  2  *ContainerRestartRuleOnExitCodes

ContainerRestartRuleOnExitCodes
  operator  1  string   required omitempty
  values    2  []int32  set

VolumeMount # A volume at a path.
  name               1  string   required  # The volume of the pod.
  readOnly           2  bool               # Mount for reading only.
  recursiveReadOnly  7  *string
  mountPath          3  string   required  # Where it appears in the container.
  subPath            4  string             # Path inside the volume to mount instead of its root.
  mountPropagation   5  *string  enum(Bidirectional|HostToContainer|None)
  subPathExpr        6  string             # Like subPath, with $(NAME) replaced by environment variables.

VolumeDevice
  name        1  string  required
  devicePath  2  string  required

Probe # A question that tells how a container is doing.
  ...                            1  ProbeHandler
  initialDelaySeconds            2  int32   # Seconds to wait before the first probe.
  timeoutSeconds                 3  int32   # Seconds until a probe counts as failed; 1 by default.
  periodSeconds                  4  int32   # Seconds between probes; 10 by default.
  successThreshold               5  int32   # Successes in a row to count as successful.
  failureThreshold               6  int32   # Failures in a row to count as failed; 3 by default.
  terminationGracePeriodSeconds  7  *int64  # Seconds to stop after this probe failed.

ProbeHandler inline
  exec       1  *ExecAction       # Run a command; 0 is success.
  httpGet    2  *HTTPGetAction    # Send a GET request; 200 to 399 is success.
  tcpSocket  3  *TCPSocketAction  # Open a connection.
  grpc       4  *GRPCAction       # Ask the gRPC health service.

ExecAction
  command  1  []string  atomic

HTTPGetAction
  path         1  string
  port         2  IntOrString   required
  host         3  string
  scheme       4  string        enum(HTTP|HTTPS)
  httpHeaders  5  []HTTPHeader  atomic

HTTPHeader
  name   1  string  required
  value  2  string  required

TCPSocketAction
  port  1  IntOrString  required
  host  2  string

GRPCAction
  port     1  int32    required
  service  2  *string  always default()

Lifecycle
  postStart   1  *LifecycleHandler
  preStop     2  *LifecycleHandler
  stopSignal  3  *string            enum(SIGABRT|SIGALRM|SIGBUS|SIGCHLD|SIGCLD|SIGCONT|SIGFPE|SIGHUP|SIGILL|SIGINT|SIGIO|SIGIOT|SIGKILL|SIGPIPE|SIGPOLL|SIGPROF|SIGPWR|SIGQUIT|SIGRTMAX|SIGRTMAX-1|SIGRTMAX-10|SIGRTMAX-11|SIGRTMAX-12|SIGRTMAX-13|SIGRTMAX-14|SIGRTMAX-2|SIGRTMAX-3|SIGRTMAX-4|SIGRTMAX-5|SIGRTMAX-6|SIGRTMAX-7|SIGRTMAX-8|SIGRTMAX-9|SIGRTMIN|SIGRTMIN+1|SIGRTMIN+10|SIGRTMIN+11|SIGRTMIN+12|SIGRTMIN+13|SIGRTMIN+14|SIGRTMIN+15|SIGRTMIN+2|SIGRTMIN+3|SIGRTMIN+4|SIGRTMIN+5|SIGRTMIN+6|SIGRTMIN+7|SIGRTMIN+8|SIGRTMIN+9|SIGSEGV|SIGSTKFLT|SIGSTOP|SIGSYS|SIGTERM|SIGTRAP|SIGTSTP|SIGTTIN|SIGTTOU|SIGURG|SIGUSR1|SIGUSR2|SIGVTALRM|SIGWINCH|SIGXCPU|SIGXFSZ)

LifecycleHandler
  exec       1  *ExecAction
  httpGet    2  *HTTPGetAction
  tcpSocket  3  *TCPSocketAction
  sleep      4  *SleepAction

SleepAction
  seconds  1  int64  required

SecurityContext # Security settings of a container.
  capabilities               1  *Capabilities
  privileged                 2  *bool
  seLinuxOptions             3  *SELinuxOptions
  windowsOptions            10  *WindowsSecurityContextOptions
  runAsUser                  4  *int64
  runAsGroup                 8  *int64
  runAsNonRoot               5  *bool
  readOnlyRootFilesystem     6  *bool
  allowPrivilegeEscalation   7  *bool
  procMount                  9  *string                         enum(Default|Unmasked)
  seccompProfile            11  *SeccompProfile
  appArmorProfile           12  *AppArmorProfile

Capabilities
  add   1  []string  atomic
  drop  2  []string  atomic

SELinuxOptions
  user   1  string
  role   2  string
  type   3  string
  level  4  string

WindowsSecurityContextOptions
  gmsaCredentialSpecName  1  *string
  gmsaCredentialSpec      2  *string
  runAsUserName           3  *string
  hostProcess             4  *bool

SeccompProfile union(type,localhostProfile:LocalhostProfile)
  type              1  string   required enum(Localhost|RuntimeDefault|Unconfined)
  localhostProfile  2  *string

AppArmorProfile union(type,localhostProfile:LocalhostProfile)
  type              1  string   required enum(Localhost|RuntimeDefault|Unconfined)
  localhostProfile  2  *string

EphemeralContainer # A container added to a running pod for debugging; gets no resources and is not restarted.
  ...                  1  EphemeralContainerCommon
  targetContainerName  2  string

EphemeralContainerCommon inline
  name                       1  string                   required
  image                      2  string
  command                    3  []string                 atomic
  args                       4  []string                 atomic
  workingDir                 5  string
  ports                      6  []ContainerPort          listmap(containerPort,protocol) merge(containerPort)
  envFrom                   19  []EnvFromSource          atomic
  env                        7  []EnvVar                 listmap(name) merge(name)
  resources                  8  ResourceRequirements
  resizePolicy              23  []ContainerResizePolicy  atomic
  restartPolicy             24  *string
  restartPolicyRules        25  []ContainerRestartRule   atomic
  volumeMounts               9  []VolumeMount            listmap(mountPath) merge(mountPath)
  volumeDevices             21  []VolumeDevice           listmap(devicePath) merge(devicePath)
  livenessProbe             10  *Probe
  readinessProbe            11  *Probe
  startupProbe              22  *Probe
  lifecycle                 12  *Lifecycle
  terminationMessagePath    13  string
  terminationMessagePolicy  20  string                   enum(FallbackToLogsOnError|File)
  imagePullPolicy           14  string                   enum(Always|IfNotPresent|Never)
  securityContext           15  *SecurityContext
  stdin                     16  bool
  stdinOnce                 17  bool
  tty                       18  bool

PodSecurityContext # Security settings of all containers of a pod.
  seLinuxOptions             1  *SELinuxOptions
  windowsOptions             8  *WindowsSecurityContextOptions
  runAsUser                  2  *int64
  runAsGroup                 6  *int64
  runAsNonRoot               3  *bool
  supplementalGroups         4  []int64                         atomic
  supplementalGroupsPolicy  12  *string                         enum(Merge|Strict)
  fsGroup                    5  *int64
  sysctls                    7  []Sysctl                        atomic
  fsGroupChangePolicy        9  *string                         enum(Always|OnRootMismatch)
  seccompProfile            10  *SeccompProfile
  appArmorProfile           11  *AppArmorProfile
  seLinuxChangePolicy       13  *string

Sysctl
  name   1  string  required
  value  2  string  required

Affinity # Rules on where a pod may or should run.
  nodeAffinity     1  *NodeAffinity     # Relative to the labels of nodes.
  podAffinity      2  *PodAffinity      # Near other pods.
  podAntiAffinity  3  *PodAntiAffinity  # Away from other pods.

NodeAffinity
  requiredDuringSchedulingIgnoredDuringExecution   1  *NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution  2  []PreferredSchedulingTerm  atomic

NodeSelector atomic
  nodeSelectorTerms  1  []NodeSelectorTerm  required atomic

NodeSelectorTerm atomic
  matchExpressions  1  []NodeSelectorRequirement  atomic
  matchFields       2  []NodeSelectorRequirement  atomic

NodeSelectorRequirement
  key       1  string    required
  operator  2  string    required enum(DoesNotExist|Exists|Gt|In|Lt|NotIn)
  values    3  []string  atomic

PreferredSchedulingTerm
  weight      1  int32             required
  preference  2  NodeSelectorTerm  required

PodAffinity
  requiredDuringSchedulingIgnoredDuringExecution   1  []PodAffinityTerm          atomic
  preferredDuringSchedulingIgnoredDuringExecution  2  []WeightedPodAffinityTerm  atomic

PodAffinityTerm
  labelSelector      1  *meta.LabelSelector
  namespaces         2  []string             atomic
  topologyKey        3  string               required
  namespaceSelector  4  *meta.LabelSelector
  matchLabelKeys     5  []string             atomic
  mismatchLabelKeys  6  []string             atomic

WeightedPodAffinityTerm
  weight           1  int32            required
  podAffinityTerm  2  PodAffinityTerm  required

PodAntiAffinity
  requiredDuringSchedulingIgnoredDuringExecution   1  []PodAffinityTerm          atomic
  preferredDuringSchedulingIgnoredDuringExecution  2  []WeightedPodAffinityTerm  atomic

Toleration # Lets a pod onto nodes with matching taints.
  key                1  string                                               # The taint to tolerate; empty means all.
  operator           2  string  enum(Equal|Exists)                           # Exists, or Equal (the default) to compare the value as well.
  value              3  string                                               # What the value of the taint must be.
  effect             4  string  enum(NoExecute|NoSchedule|PreferNoSchedule)  # Which effect to tolerate; empty means all.
  tolerationSeconds  5  *int64                                               # How long to stay under a NoExecute taint; unset means forever.

HostAlias
  ip         1  string    required
  hostnames  2  []string  atomic

PodDNSConfig
  nameservers  1  []string              atomic
  searches     2  []string              atomic
  options      3  []PodDNSConfigOption  atomic

PodDNSConfigOption
  name   1  string
  value  2  *string

PodReadinessGate
  conditionType  1  string  required

TopologySpreadConstraint # How evenly matching pods must be spread.
  maxSkew             1  int32                required
  topologyKey         2  string               required
  whenUnsatisfiable   3  string               required enum(DoNotSchedule|ScheduleAnyway)
  labelSelector       4  *meta.LabelSelector
  minDomains          5  *int32
  nodeAffinityPolicy  6  *string              enum(Honor|Ignore)
  nodeTaintsPolicy    7  *string              enum(Honor|Ignore)
  matchLabelKeys      8  []string             atomic

PodOS
  name  1  string  required

PodSchedulingGate
  name  1  string  required

PodResourceClaim
  name                       1  string   required
  resourceClaimName          3  *string
  resourceClaimTemplateName  4  *string

PodStatus # What is known of a pod; may lag behind.
  observedGeneration           17  int64                                              # The generation of the spec this status is about.
  phase                         1  string                           enum(Failed|Pending|Running|Succeeded|Unknown)  # Pending, Running, Succeeded, Failed or Unknown.
  conditions                    2  []PodCondition                   listmap(type) merge(type)  # How far the pod has come.
  message                       3  string                                             # Why the pod is in this state, for people.
  reason                        4  string                                             # Why the pod is in this state, in one word.
  nominatedNodeName            11  string                                             # The node where room is being made for this pod.
  hostIP                        5  string                                             # Address of the node.
  hostIPs                      16  []HostIP                         atomic merge(ip)  # Addresses of the node.
  podIP                         6  string                                             # Address of the pod.
  podIPs                       12  []PodIP                          listmap(ip) merge(ip)  # Addresses of the pod, at most one per family.
  startTime                     7  *Time                                              # When the node took notice of the pod.
  initContainerStatuses        10  []ContainerStatus                atomic            # State of the init containers.
  containerStatuses             8  []ContainerStatus                atomic            # State of the containers.
  qosClass                      9  string                           enum(BestEffort|Burstable|Guaranteed)  # Guaranteed, Burstable or BestEffort, from the resource settings.
  ephemeralContainerStatuses   13  []ContainerStatus                atomic            # State of the debugging containers.
  resize                       14  string                                             # Progress of a change of resources.
  resourceClaimStatuses        15  []PodResourceClaimStatus         listmap(name) merge(name) retainKeys
  extendedResourceClaimStatus  18  *PodExtendedResourceClaimStatus

PodCondition # One aspect of the state of a Pod.
  type                1  string  required  # Which aspect.
  observedGeneration  7  int64             # The generation of the spec this is about.
  status              2  string  required  # True, False or Unknown.
  lastProbeTime       3  Time              # When it was last looked at.
  lastTransitionTime  4  Time              # When the status last changed.
  reason              5  string            # Why it last changed, as one CamelCase word.
  message             6  string            # Why it last changed, for people.

HostIP
  ip  1  string  required

PodIP
  ip  1  string  required

ContainerStatus
  name                       1  string                 required
  state                      2  ContainerState
  lastState                  3  ContainerState
  ready                      4  bool                   required
  restartCount               5  int32                  required
  image                      6  string                 required
  imageID                    7  string                 required
  containerID                8  string
  started                    9  *bool
  allocatedResources        10  map[string]Quantity
  resources                 11  *ResourceRequirements
  volumeMounts              12  []VolumeMountStatus    listmap(mountPath) merge(mountPath)
  user                      13  *ContainerUser
  allocatedResourcesStatus  14  []ResourceStatus       listmap(name) merge(name)
  stopSignal                15  *string                enum(SIGABRT|SIGALRM|SIGBUS|SIGCHLD|SIGCLD|SIGCONT|SIGFPE|SIGHUP|SIGILL|SIGINT|SIGIO|SIGIOT|SIGKILL|SIGPIPE|SIGPOLL|SIGPROF|SIGPWR|SIGQUIT|SIGRTMAX|SIGRTMAX-1|SIGRTMAX-10|SIGRTMAX-11|SIGRTMAX-12|SIGRTMAX-13|SIGRTMAX-14|SIGRTMAX-2|SIGRTMAX-3|SIGRTMAX-4|SIGRTMAX-5|SIGRTMAX-6|SIGRTMAX-7|SIGRTMAX-8|SIGRTMAX-9|SIGRTMIN|SIGRTMIN+1|SIGRTMIN+10|SIGRTMIN+11|SIGRTMIN+12|SIGRTMIN+13|SIGRTMIN+14|SIGRTMIN+15|SIGRTMIN+2|SIGRTMIN+3|SIGRTMIN+4|SIGRTMIN+5|SIGRTMIN+6|SIGRTMIN+7|SIGRTMIN+8|SIGRTMIN+9|SIGSEGV|SIGSTKFLT|SIGSTOP|SIGSYS|SIGTERM|SIGTRAP|SIGTSTP|SIGTTIN|SIGTTOU|SIGURG|SIGUSR1|SIGUSR2|SIGVTALRM|SIGWINCH|SIGXCPU|SIGXFSZ)

ContainerState
  waiting     1  *ContainerStateWaiting
  running     2  *ContainerStateRunning
  terminated  3  *ContainerStateTerminated

ContainerStateWaiting
  reason   1  string
  message  2  string

ContainerStateRunning
  startedAt  1  Time

ContainerStateTerminated
  exitCode     1  int32   required
  signal       2  int32
  reason       3  string
  message      4  string
  startedAt    5  Time
  finishedAt   6  Time
  containerID  7  string

VolumeMountStatus
  name               1  string   required
  mountPath          2  string   required
  readOnly           3  bool
  recursiveReadOnly  4  *string

ContainerUser
  linux  1  *LinuxContainerUser

LinuxContainerUser
  uid                 1  int64    required
  gid                 2  int64    required
  supplementalGroups  3  []int64  atomic

ResourceStatus
  name       1  string            required
  resources  2  []ResourceHealth  listmap(resourceID)

ResourceHealth
  resourceID  1  string  required
  health      2  string

PodResourceClaimStatus
  name               1  string   required
  resourceClaimName  2  *string

PodExtendedResourceClaimStatus
  requestMappings    1  []ContainerExtendedResourceRequest  required atomic
  resourceClaimName  2  string                              required

ContainerExtendedResourceRequest
  containerName  1  string  required
  resourceName   2  string  required
  requestName    3  string  required

PodTemplate kind # A template for pods.
  template  2  PodTemplateSpec  # The pods made from it.

PodTemplateSpec # What the pods made from a template look like.
  metadata  1  meta.ObjectMeta  # Labels and annotations of the pods.
  spec      2  PodSpec          # How to run the pods.

ReplicationController kind # The forerunner of ReplicaSet: keeps a number of equal pods running.
  spec    2  ReplicationControllerSpec    # What is wanted.
  status  3  ReplicationControllerStatus  # What was observed; written by the system.

ReplicationControllerSpec
  replicas         1  *int32             default(1)  # How many pods are wanted.
  minReadySeconds  4  int32              default(0)  # How long a new pod must be ready before it counts as available.
  selector         2  map[string]string  atomic      # The pods that count; the labels of the template by default.
  template         3  *PodTemplateSpec               # The pods to make.

ReplicationControllerStatus
  replicas              1  int32                             required
  fullyLabeledReplicas  2  int32
  readyReplicas         4  int32
  availableReplicas     5  int32
  observedGeneration    3  int64
  conditions            6  []ReplicationControllerCondition  listmap(type) merge(type)  # How far things are.

ReplicationControllerCondition # One aspect of the state of a ReplicationController.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastTransitionTime  3  Time              # When the status last changed.
  reason              4  string            # Why it last changed, as one CamelCase word.
  message             5  string            # Why it last changed, for people.

Binding kind nolist # Ties a pod to a node.
  target  2  ObjectReference  required  # The node.

Service kind # One name and address for a set of pods.
  spec    2  ServiceSpec    # What is wanted.
  status  3  ServiceStatus  # What was observed; written by the system.

ServiceSpec # How clients reach the pods.
  ports                           1  []ServicePort           listmap(port,protocol) merge(port)  # The ports of the service.
  selector                        2  map[string]string       atomic                   # Labels of the pods behind it; empty when something else keeps the endpoints.
  clusterIP                       3  string                                           # Its address inside the cluster; None for a headless service; assigned when empty.
  clusterIPs                     18  []string                atomic                   # The same, one per address family.
  type                            4  string                  enum(ClusterIP|ExternalName|LoadBalancer|NodePort)  # ClusterIP (the default), NodePort, LoadBalancer or ExternalName.
  externalIPs                     5  []string                atomic                   # Addresses that nodes accept traffic for as well.
  sessionAffinity                 7  string                  enum(ClientIP|None)      # ClientIP keeps a client at the same pod; None by default.
  loadBalancerIP                  8  string                                           # The address to ask the load balancer for; depends on the provider.
  loadBalancerSourceRanges        9  []string                atomic                   # Who may use the load balancer, as CIDRs.
  externalName                   10  string                                           # The name that a service of type ExternalName stands for.
  externalTrafficPolicy          11  string                  enum(Cluster|Local)      # Local keeps outside traffic on the node it arrived at, and its source address.
  healthCheckNodePort            12  int32                                            # Where load balancers ask whether a node has pods of the service.
  publishNotReadyAddresses       13  bool                                             # Count pods that are not ready as well.
  sessionAffinityConfig          14  *SessionAffinityConfig                           # Settings of the session affinity.
  ipFamilies                     19  []string                enum(|IPv4|IPv6) atomic  # IPv4, IPv6 or both, in order.
  ipFamilyPolicy                 17  *string                 enum(PreferDualStack|RequireDualStack|SingleStack)  # SingleStack, PreferDualStack or RequireDualStack.
  allocateLoadBalancerNodePorts  20  *bool                                            # Whether a load balancer also gets node ports.
  loadBalancerClass              21  *string                                          # Which implementation makes the load balancer.
  internalTrafficPolicy          22  *string                 enum(Cluster|Local)      # Local keeps inside traffic on the node.
  trafficDistribution            23  *string                                          # A preference for endpoints that are near.

ServicePort # A port of a service.
  name         1  string                                        # Name of the port; needed when there are several.
  protocol     2  string       default(TCP) enum(SCTP|TCP|UDP)  # TCP, UDP or SCTP.
  appProtocol  6  *string                                       # The protocol spoken on the port, as a hint.
  port         3  int32        required                         # The port of the service.
  targetPort   4  IntOrString                                   # Number or name of the port of the pods; the same number by default.
  nodePort     5  int32                                         # The port on every node; assigned when needed and not given.

SessionAffinityConfig
  clientIP  1  *ClientIPConfig

ClientIPConfig
  timeoutSeconds  1  *int32

ServiceStatus
  loadBalancer  1  LoadBalancerStatus                             # Where the load balancer listens.
  conditions    2  []meta.Condition    listmap(type) merge(type)  # How far things are.

LoadBalancerStatus
  ingress  1  []LoadBalancerIngress  atomic  # Its addresses.

LoadBalancerIngress
  ip        1  string
  hostname  2  string
  ipMode    3  *string
  ports     4  []PortStatus  atomic

PortStatus
  port      1  int32    required
  protocol  2  string   required enum(SCTP|TCP|UDP)
  error     3  *string

Endpoints kind # The addresses behind a service; EndpointSlice has taken over.
  subsets  2  []EndpointSubset  atomic  # Addresses with the ports they share.

EndpointSubset
  addresses          1  []EndpointAddress  atomic
  notReadyAddresses  2  []EndpointAddress  atomic
  ports              3  []EndpointPort     atomic

EndpointAddress atomic
  ip         1  string            required
  hostname   3  string
  nodeName   4  *string
  targetRef  2  *ObjectReference

EndpointPort atomic
  name         1  string
  port         2  int32    required
  protocol     3  string   enum(SCTP|TCP|UDP)
  appProtocol  4  *string

PersistentVolume kind # A piece of storage of the cluster.
  spec    2  PersistentVolumeSpec    # What is wanted.
  status  3  PersistentVolumeStatus  # What was observed; written by the system.

PersistentVolumeSpec
  capacity                        1  map[string]Quantity                             # How large it is.
  ...                             2  PersistentVolumeSource
  accessModes                     3  []string                enum(ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod) atomic  # The ways it can be mounted.
  claimRef                        4  *ObjectReference        granular                # The claim it is bound to.
  persistentVolumeReclaimPolicy   5  string                  enum(Delete|Recycle|Retain)  # What happens to the data when the claim is gone: Retain, Delete or Recycle.
  storageClassName                6  string                                          # The class it belongs to.
  mountOptions                    7  []string                atomic                  # Options for mount.
  volumeMode                      8  *string                 enum(Block|Filesystem)  # Filesystem or Block.
  nodeAffinity                    9  *VolumeNodeAffinity                             # The nodes from which it can be used.
  volumeAttributesClassName      10  *string

PersistentVolumeSource inline
  gcePersistentDisk      1  *GCEPersistentDiskVolumeSource
  awsElasticBlockStore   2  *AWSElasticBlockStoreVolumeSource
  hostPath               3  *HostPathVolumeSource
  glusterfs              4  *GlusterfsPersistentVolumeSource
  nfs                    5  *NFSVolumeSource
  rbd                    6  *RBDPersistentVolumeSource
  iscsi                  7  *ISCSIPersistentVolumeSource
  cinder                 8  *CinderPersistentVolumeSource
  cephfs                 9  *CephFSPersistentVolumeSource
  fc                    10  *FCVolumeSource
  flocker               11  *FlockerVolumeSource
  flexVolume            12  *FlexPersistentVolumeSource
  azureFile             13  *AzureFilePersistentVolumeSource
  vsphereVolume         14  *VsphereVirtualDiskVolumeSource
  quobyte               15  *QuobyteVolumeSource
  azureDisk             16  *AzureDiskVolumeSource
  photonPersistentDisk  17  *PhotonPersistentDiskVolumeSource
  portworxVolume        18  *PortworxVolumeSource
  scaleIO               19  *ScaleIOPersistentVolumeSource
  local                 20  *LocalVolumeSource
  storageos             21  *StorageOSPersistentVolumeSource
  csi                   22  *CSIPersistentVolumeSource

GlusterfsPersistentVolumeSource
  endpoints           1  string   required
  path                2  string   required
  readOnly            3  bool
  endpointsNamespace  4  *string

RBDPersistentVolumeSource
  monitors   1  []string          required atomic
  image      2  string            required
  fsType     3  string
  pool       4  string            default(rbd)
  user       5  string            default(admin)
  keyring    6  string            default(/etc/ceph/keyring)
  secretRef  7  *SecretReference
  readOnly   8  bool

SecretReference atomic
  name       1  string
  namespace  2  string

ISCSIPersistentVolumeSource
  targetPortal        1  string            required
  iqn                 2  string            required
  lun                 3  int32             required
  iscsiInterface      4  string            default(default)
  fsType              5  string
  readOnly            6  bool
  portals             7  []string          atomic
  chapAuthDiscovery   8  bool
  chapAuthSession    11  bool
  secretRef          10  *SecretReference
  initiatorName      12  *string

CinderPersistentVolumeSource
  volumeID   1  string            required
  fsType     2  string
  readOnly   3  bool
  secretRef  4  *SecretReference

CephFSPersistentVolumeSource
  monitors    1  []string          required atomic
  path        2  string
  user        3  string
  secretFile  4  string
  secretRef   5  *SecretReference
  readOnly    6  bool

FlexPersistentVolumeSource
  driver     1  string             required
  fsType     2  string
  secretRef  3  *SecretReference
  readOnly   4  bool
  options    5  map[string]string

AzureFilePersistentVolumeSource
  secretName       1  string   required
  shareName        2  string   required
  readOnly         3  bool
  secretNamespace  4  *string  always

ScaleIOPersistentVolumeSource
  gateway            1  string            required
  system             2  string            required
  secretRef          3  *SecretReference  required
  sslEnabled         4  bool
  protectionDomain   5  string
  storagePool        6  string
  storageMode        7  string            default(ThinProvisioned)
  volumeName         8  string
  fsType             9  string            default(xfs)
  readOnly          10  bool

LocalVolumeSource
  path    1  string   required
  fsType  2  *string

StorageOSPersistentVolumeSource
  volumeName       1  string
  volumeNamespace  2  string
  fsType           3  string
  readOnly         4  bool
  secretRef        5  *ObjectReference

CSIPersistentVolumeSource
  driver                       1  string             required
  volumeHandle                 2  string             required
  readOnly                     3  bool
  fsType                       4  string
  volumeAttributes             5  map[string]string
  controllerPublishSecretRef   6  *SecretReference
  nodeStageSecretRef           7  *SecretReference
  nodePublishSecretRef         8  *SecretReference
  controllerExpandSecretRef    9  *SecretReference
  nodeExpandSecretRef         10  *SecretReference

VolumeNodeAffinity
  required  1  *NodeSelector

PersistentVolumeStatus
  phase                    1  string  enum(Available|Bound|Failed|Pending|Released)
  message                  2  string
  reason                   3  string
  lastPhaseTransitionTime  4  *Time

PersistentVolumeClaim kind # A request for storage.
  spec    2  PersistentVolumeClaimSpec    # What is wanted.
  status  3  PersistentVolumeClaimStatus  # What was observed; written by the system.

PersistentVolumeClaimStatus
  phase                             1  string                            enum(Bound|Lost|Pending)  # Pending, Bound or Lost.
  accessModes                       2  []string                          enum(ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod) atomic
  capacity                          3  map[string]Quantity  # How large it really is.
  conditions                        4  []PersistentVolumeClaimCondition  listmap(type) merge(type)  # How far things are.
  allocatedResources                5  map[string]Quantity
  allocatedResourceStatuses         7  map[string]string                 enum(ControllerResizeInProgress|ControllerResizeInfeasible|NodeResizeInProgress|NodeResizeInfeasible|NodeResizePending) granular
  currentVolumeAttributesClassName  8  *string
  modifyVolumeStatus                9  *ModifyVolumeStatus

PersistentVolumeClaimCondition # One aspect of the state of a PersistentVolumeClaim.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastProbeTime       3  Time              # When it was last looked at.
  lastTransitionTime  4  Time              # When the status last changed.
  reason              5  string            # Why it last changed, as one CamelCase word.
  message             6  string            # Why it last changed, for people.

ModifyVolumeStatus
  targetVolumeAttributesClassName  1  string
  status                           2  string  required enum(InProgress|Infeasible|Pending)

LimitRange kind # Defaults and limits for the resources of single objects in a namespace.
  spec  2  LimitRangeSpec  # What is wanted.

LimitRangeSpec
  limits  1  []LimitRangeItem  required atomic  # The limits.

LimitRangeItem
  type                  1  string               required
  max                   2  map[string]Quantity
  min                   3  map[string]Quantity
  default               4  map[string]Quantity
  defaultRequest        5  map[string]Quantity
  maxLimitRequestRatio  6  map[string]Quantity

ResourceQuota kind # Limits on what all objects of a namespace use together.
  spec    2  ResourceQuotaSpec    # What is wanted.
  status  3  ResourceQuotaStatus  # What was observed; written by the system.

ResourceQuotaSpec
  hard           1  map[string]Quantity  # The most of each resource.
  scopes         2  []string             enum(BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating|VolumeAttributesClass) atomic  # Which objects count.
  scopeSelector  3  *ScopeSelector

ScopeSelector atomic
  matchExpressions  1  []ScopedResourceSelectorRequirement  atomic

ScopedResourceSelectorRequirement
  scopeName  1  string    required enum(BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating|VolumeAttributesClass)
  operator   2  string    required enum(DoesNotExist|Exists|In|NotIn)
  values     3  []string  atomic

ResourceQuotaStatus
  hard  1  map[string]Quantity  # The limits in force.
  used  2  map[string]Quantity  # What is in use.

ComponentStatus kind # Health of a component of the control plane; no longer in use.
  conditions  2  []ComponentCondition  listmap(type) merge(type)  # How far things are.

ComponentCondition # One aspect of the state of a Component.
  type     1  string  required  # Which aspect.
  status   2  string  required  # True, False or Unknown.
  message  3  string            # Why it last changed, for people.
  error    4  string

TopologySelectorLabelRequirement
  key     1  string    required
  values  2  []string  required atomic

TopologySelectorTerm atomic
  matchLabelExpressions  1  []TopologySelectorLabelRequirement  atomic
`,
};
