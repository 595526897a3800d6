import type { TypeTable } from '../schema/type-table.ts';

export const schedulingTypes: TypeTable = {
  alias: 'scheduling',
  group: 'scheduling.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.scheduling.v1',
  text: `
PriorityClass kind # A name for a priority of pods.
  value             2  int32    required                          # The priority; higher goes first.
  globalDefault     3  bool                                       # Used for pods that name no class.
  description       4  string                                     # What the class is for.
  preemptionPolicy  5  *string  enum(Never|PreemptLowerPriority)  # Whether pods of this class may push out others.
`,
};
