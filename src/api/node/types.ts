import type { TypeTable } from '../schema/type-table.ts';

export const nodeTypes: TypeTable = {
  alias: 'node',
  group: 'node.k8s.io',
  version: 'v1',
  componentPrefix: 'io.k8s.api.node.v1',
  text: `
RuntimeClass kind # A way to run containers.
  handler     2  string       required  # The name by which the runtime knows it; cannot change.
  overhead    3  *Overhead              # What running a pod this way costs on top.
  scheduling  4  *Scheduling            # The nodes that can do it.

Overhead
  podFixed  1  map[string]Quantity

Scheduling
  nodeSelector  1  map[string]string  atomic
  tolerations   2  []core.Toleration  atomic
`,
};
