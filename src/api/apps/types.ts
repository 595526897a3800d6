import type { TypeTable } from '../schema/type-table.ts';

export const appsTypes: TypeTable = {
  alias: 'apps',
  group: 'apps',
  version: 'v1',
  componentPrefix: 'io.k8s.api.apps.v1',
  text: `
Deployment kind # Keeps a number of equal pods running and rolls out changes to them.
  spec    2  DeploymentSpec    # What is wanted.
  status  3  DeploymentStatus  # What was observed; written by the system.

DeploymentSpec # The pods wanted and how to replace them.
  replicas                 1  *int32                            # How many pods are wanted; 1 by default.
  selector                 2  *meta.LabelSelector   required    # The pods that belong to it; must match the template and cannot change.
  template                 3  core.PodTemplateSpec  required    # The pods to make.
  strategy                 4  DeploymentStrategy    retainKeys  # How old pods are replaced by new ones.
  minReadySeconds          5  int32                             # How long a new pod must be ready before it counts as available.
  revisionHistoryLimit     6  *int32                            # How many old ReplicaSets to keep for going back; 10 by default.
  paused                   7  bool                              # Do not roll out changes for now.
  progressDeadlineSeconds  9  *int32                            # After how long without progress a rollout counts as failed; 600 by default.

DeploymentStrategy
  type           1  string                    enum(Recreate|RollingUpdate)  # RollingUpdate (the default) or Recreate.
  rollingUpdate  2  *RollingUpdateDeployment                                # Settings of a rolling update.

RollingUpdateDeployment
  maxUnavailable  1  *IntOrString  # How many pods may be missing meanwhile; number or percentage, 25% by default.
  maxSurge        2  *IntOrString  # How many pods there may be too many meanwhile; number or percentage, 25% by default.

DeploymentStatus
  observedGeneration   1  int64                                             # The generation of the spec this status is about.
  replicas             2  int32                                             # Pods there are.
  updatedReplicas      3  int32                                             # Pods made from the current template.
  readyReplicas        7  int32                                             # Pods that are ready.
  availableReplicas    4  int32                                             # Pods ready for long enough.
  unavailableReplicas  5  int32                                             # Pods still needed.
  terminatingReplicas  9  *int32
  conditions           6  []DeploymentCondition  listmap(type) merge(type)  # Available, Progressing, ReplicaFailure.
  collisionCount       8  *int32                                            # Counts clashes in the names of ReplicaSets.

DeploymentCondition # One aspect of the state of a Deployment.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastUpdateTime      6  Time              # When it was last written.
  lastTransitionTime  7  Time              # When the status last changed.
  reason              4  string            # Why it last changed, as one CamelCase word.
  message             5  string            # Why it last changed, for people.

ReplicaSet kind # Keeps a number of equal pods running; mostly made by a Deployment.
  spec    2  ReplicaSetSpec    # What is wanted.
  status  3  ReplicaSetStatus  # What was observed; written by the system.

ReplicaSetSpec
  replicas         1  *int32                          # How many pods are wanted; 1 by default.
  minReadySeconds  4  int32                           # How long a new pod must be ready before it counts as available.
  selector         2  *meta.LabelSelector   required  # The pods that belong to it; must match the template and cannot change.
  template         3  core.PodTemplateSpec            # The pods to make.

ReplicaSetStatus
  replicas              1  int32                  required
  fullyLabeledReplicas  2  int32
  readyReplicas         4  int32
  availableReplicas     5  int32
  terminatingReplicas   7  *int32
  observedGeneration    3  int64
  conditions            6  []ReplicaSetCondition  listmap(type) merge(type)  # How far things are.

ReplicaSetCondition # One aspect of the state of a ReplicaSet.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastTransitionTime  3  Time              # When the status last changed.
  reason              4  string            # Why it last changed, as one CamelCase word.
  message             5  string            # Why it last changed, for people.

StatefulSet kind # Pods with names and storage of their own, started and stopped in order.
  spec    2  StatefulSetSpec    # What is wanted.
  status  3  StatefulSetStatus  # What was observed; written by the system.

StatefulSetSpec
  replicas                               1  *int32                     # How many pods are wanted; 1 by default.
  selector                               2  *meta.LabelSelector                               required  # The pods that belong to it; must match the template and cannot change.
  template                               3  core.PodTemplateSpec                              required  # The pods to make; they are named after the set with a number.
  volumeClaimTemplates                   4  []core.PersistentVolumeClaim                      atomic  # A claim of each of these is made for every pod.
  serviceName                            5  string                                            always  # The headless service that gives the pods their names.
  podManagementPolicy                    6  string                                            enum(OrderedReady|Parallel)  # OrderedReady (the default) or Parallel.
  updateStrategy                         7  StatefulSetUpdateStrategy  # How changes reach the pods.
  revisionHistoryLimit                   8  *int32                     # How many old revisions to keep; 10 by default.
  minReadySeconds                        9  int32                      # How long a new pod must be ready before it counts as available.
  persistentVolumeClaimRetentionPolicy  10  *StatefulSetPersistentVolumeClaimRetentionPolicy  # What becomes of the claims when pods go.
  ordinals                              11  *StatefulSetOrdinals       # How the pods are numbered.

StatefulSetUpdateStrategy
  type           1  string                             enum(OnDelete|RollingUpdate)
  rollingUpdate  2  *RollingUpdateStatefulSetStrategy

RollingUpdateStatefulSetStrategy
  partition       1  *int32
  maxUnavailable  2  *IntOrString

StatefulSetPersistentVolumeClaimRetentionPolicy
  whenDeleted  1  string
  whenScaled   2  string

StatefulSetOrdinals
  start  1  int32  always

StatefulSetStatus
  observedGeneration   1  int64
  replicas             2  int32                   required
  readyReplicas        3  int32
  currentReplicas      4  int32
  updatedReplicas      5  int32
  currentRevision      6  string
  updateRevision       7  string
  collisionCount       9  *int32
  conditions          10  []StatefulSetCondition  listmap(type) merge(type)  # How far things are.
  availableReplicas   11  int32                   always

StatefulSetCondition # One aspect of the state of a StatefulSet.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastTransitionTime  3  Time              # When the status last changed.
  reason              4  string            # Why it last changed, as one CamelCase word.
  message             5  string            # Why it last changed, for people.

DaemonSet kind # Runs one pod on every matching node.
  spec    2  DaemonSetSpec    # What is wanted.
  status  3  DaemonSetStatus  # What was observed; written by the system.

DaemonSetSpec
  selector              1  *meta.LabelSelector      required  # The pods that belong to it; must match the template and cannot change.
  template              2  core.PodTemplateSpec     required  # The pods to make; its node selector decides on the nodes.
  updateStrategy        3  DaemonSetUpdateStrategy            # How changes reach the pods.
  minReadySeconds       4  int32                              # How long a new pod must be ready before it counts as available.
  revisionHistoryLimit  6  *int32                             # How many old revisions to keep; 10 by default.

DaemonSetUpdateStrategy
  type           1  string                   enum(OnDelete|RollingUpdate)
  rollingUpdate  2  *RollingUpdateDaemonSet

RollingUpdateDaemonSet
  maxUnavailable  1  *IntOrString
  maxSurge        2  *IntOrString

DaemonSetStatus
  currentNumberScheduled   1  int32                 required
  numberMisscheduled       2  int32                 required
  desiredNumberScheduled   3  int32                 required
  numberReady              4  int32                 required
  observedGeneration       5  int64
  updatedNumberScheduled   6  int32
  numberAvailable          7  int32
  numberUnavailable        8  int32
  collisionCount           9  *int32
  conditions              10  []DaemonSetCondition  listmap(type) merge(type)  # How far things are.

DaemonSetCondition # One aspect of the state of a DaemonSet.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastTransitionTime  3  Time              # When the status last changed.
  reason              4  string            # Why it last changed, as one CamelCase word.
  message             5  string            # Why it last changed, for people.

ControllerRevision kind # A recorded state of a StatefulSet or DaemonSet; cannot change.
  data      2  RawExtension            # The state.
  revision  3  int64         required  # Its number; higher is newer.
`,
};
