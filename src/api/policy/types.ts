import type { TypeTable } from '../schema/type-table.ts';

export const policyTypes: TypeTable = {
  alias: 'policy',
  group: 'policy',
  version: 'v1',
  componentPrefix: 'io.k8s.api.policy.v1',
  text: `
Eviction kind nolist # Asks a pod to leave its node, if its budget allows.
  deleteOptions  2  *meta.DeleteOptions  # How to delete it.

PodDisruptionBudget kind # How many pods of a set may be evicted at once.
  spec    2  PodDisruptionBudgetSpec    # What is wanted.
  status  3  PodDisruptionBudgetStatus  # What was observed; written by the system.

PodDisruptionBudgetSpec
  minAvailable                1  *IntOrString                  # How many must stay; number or percentage.
  selector                    2  *meta.LabelSelector  replace  # The pods that count.
  maxUnavailable              3  *IntOrString                  # How many may be missing; number or percentage.
  unhealthyPodEvictionPolicy  4  *string              enum(AlwaysAllow|IfHealthyBudget)  # When pods that are not healthy may be evicted.

PodDisruptionBudgetStatus
  observedGeneration  1  int64
  disruptedPods       2  map[string]Time
  disruptionsAllowed  3  int32             required
  currentHealthy      4  int32             required
  desiredHealthy      5  int32             required
  expectedPods        6  int32             required
  conditions          7  []meta.Condition  listmap(type) merge(type)  # How far things are.
`,
};
