import type { MachineDeploymentTopology, Topology } from '../../api/index.ts';
import { CapstanError } from '../../machinery/index.ts';

export function machineDeploymentOf(topology: Topology, name: string): MachineDeploymentTopology {
  const all = topology.workers?.machineDeployments ?? [];
  const found = all.find((entry) => entry.name === name);
  if (found) return found;
  throw new CapstanError('CAP_USAGE', `the topology has no machine deployment "${name}"`, {
    hint: all.length === 0 ? 'it has none at all' : `it has ${all.map((entry) => entry.name).join(', ')}`,
  });
}
