import type { TypeTable } from '../schema/type-table.ts';

export const autoscalingV1Types: TypeTable = {
  alias: 'autoscalingv1',
  group: 'autoscaling',
  version: 'v1',
  componentPrefix: 'io.k8s.api.autoscaling.v1',
  text: `
HorizontalPodAutoscaler kind # Fits the number of pods to their load, by CPU.
  spec    2  HorizontalPodAutoscalerSpec    # What is wanted.
  status  3  HorizontalPodAutoscalerStatus  # What was observed; written by the system.

HorizontalPodAutoscalerSpec
  scaleTargetRef                  1  CrossVersionObjectReference  required  # What to scale.
  minReplicas                     2  *int32                                 # The fewest pods; 1 by default.
  maxReplicas                     3  int32                        required  # The most pods.
  targetCPUUtilizationPercentage  4  *int32                                 # Average CPU use to aim at, in percent of the request.

CrossVersionObjectReference atomic
  kind        1  string  required
  name        2  string  required
  apiVersion  3  string

HorizontalPodAutoscalerStatus
  observedGeneration               1  *int64
  lastScaleTime                    2  *Time
  currentReplicas                  3  int32   required
  desiredReplicas                  4  int32   required
  currentCPUUtilizationPercentage  5  *int32

Scale kind nolist # How many there are of something that can be scaled.
  spec    2  ScaleSpec    # What is wanted.
  status  3  ScaleStatus  # What was observed; written by the system.

ScaleSpec
  replicas  1  int32  default(0)  # How many are wanted.

ScaleStatus
  replicas  1  int32   required  # How many there are.
  selector  2  string            # The pods that count, as text.
`,
};

export const autoscalingV2Types: TypeTable = {
  alias: 'autoscalingv2',
  group: 'autoscaling',
  version: 'v2',
  componentPrefix: 'io.k8s.api.autoscaling.v2',
  text: `
HorizontalPodAutoscaler kind # Fits the number of pods to their load.
  spec    2  HorizontalPodAutoscalerSpec    # What is wanted.
  status  3  HorizontalPodAutoscalerStatus  # What was observed; written by the system.

HorizontalPodAutoscalerSpec
  scaleTargetRef  1  CrossVersionObjectReference       required  # What to scale.
  minReplicas     2  *int32                                      # The fewest pods; 1 by default.
  maxReplicas     3  int32                             required  # The most pods.
  metrics         4  []MetricSpec                      atomic    # What the number depends on.
  behavior        5  *HorizontalPodAutoscalerBehavior            # How quickly to scale up and down.

CrossVersionObjectReference
  kind        1  string  required
  name        2  string  required
  apiVersion  3  string

MetricSpec
  type               1  string                          required
  object             2  *ObjectMetricSource
  pods               3  *PodsMetricSource
  resource           4  *ResourceMetricSource
  containerResource  7  *ContainerResourceMetricSource
  external           5  *ExternalMetricSource

ObjectMetricSource
  describedObject  1  CrossVersionObjectReference  required
  target           2  MetricTarget                 required
  metric           3  MetricIdentifier             required

MetricTarget
  type                1  string     required
  value               2  *Quantity
  averageValue        3  *Quantity
  averageUtilization  4  *int32

MetricIdentifier
  name      1  string               required
  selector  2  *meta.LabelSelector

PodsMetricSource
  metric  1  MetricIdentifier  required
  target  2  MetricTarget      required

ResourceMetricSource
  name    1  string        required
  target  2  MetricTarget  required

ContainerResourceMetricSource
  name       1  string        required
  target     2  MetricTarget  required
  container  3  string        required

ExternalMetricSource
  metric  1  MetricIdentifier  required
  target  2  MetricTarget      required

HorizontalPodAutoscalerBehavior
  scaleUp    1  *HPAScalingRules
  scaleDown  2  *HPAScalingRules

HPAScalingRules
  stabilizationWindowSeconds  3  *int32
  selectPolicy                1  *string
  policies                    2  []HPAScalingPolicy  atomic
  tolerance                   4  *Quantity

HPAScalingPolicy
  type           1  string  required
  value          2  int32   required
  periodSeconds  3  int32   required

HorizontalPodAutoscalerStatus
  observedGeneration  1  *int64
  lastScaleTime       2  *Time
  currentReplicas     3  int32
  desiredReplicas     4  int32                               required
  currentMetrics      5  []MetricStatus                      always atomic
  conditions          6  []HorizontalPodAutoscalerCondition  listmap(type) merge(type)  # How far things are.

MetricStatus
  type               1  string                          required
  object             2  *ObjectMetricStatus
  pods               3  *PodsMetricStatus
  resource           4  *ResourceMetricStatus
  containerResource  7  *ContainerResourceMetricStatus
  external           5  *ExternalMetricStatus

ObjectMetricStatus
  metric           1  MetricIdentifier             required
  current          2  MetricValueStatus            required
  describedObject  3  CrossVersionObjectReference  required

MetricValueStatus
  value               1  *Quantity
  averageValue        2  *Quantity
  averageUtilization  3  *int32

PodsMetricStatus
  metric   1  MetricIdentifier   required
  current  2  MetricValueStatus  required

ResourceMetricStatus
  name     1  string             required
  current  2  MetricValueStatus  required

ContainerResourceMetricStatus
  name       1  string             required
  current    2  MetricValueStatus  required
  container  3  string             required

ExternalMetricStatus
  metric   1  MetricIdentifier   required
  current  2  MetricValueStatus  required

HorizontalPodAutoscalerCondition # One aspect of the state of a HorizontalPodAutoscaler.
  type                1  string  required  # Which aspect.
  status              2  string  required  # True, False or Unknown.
  lastTransitionTime  3  Time              # When the status last changed.
  reason              4  string            # Why it last changed, as one CamelCase word.
  message             5  string            # Why it last changed, for people.
`,
};
