import { type ClusterClass, replicasVariableAnnotation, type Topology } from '../../../api/index.ts';

/**
 * Returns the control plane replicas. A class may name a variable for it, which takes precedence over the topology
 * field. Requires defaulted variables.
 */
export function controlPlaneReplicas(
  { metadata }: Pick<ClusterClass, 'metadata'>,
  { variables, controlPlane }: Topology,
): { replicas?: number; note?: string } {
  const field = controlPlane?.replicas;
  const fromField = field === undefined ? {} : { replicas: field };
  const name = metadata.annotations?.[replicasVariableAnnotation];
  if (name === undefined || name === '') return fromField;
  const value =
    controlPlane?.variables?.overrides?.find((variable) => variable.name === name)?.value ??
    variables?.find((variable) => variable.name === name)?.value;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) return fromField;
  if (field === undefined || field === value) return { replicas: value };
  const note =
    `spec.topology.controlPlane.replicas is ${field}, but variable "${name}" says ${value}: ` +
    `ClusterClass ${metadata.name} lets the variable decide`;
  return { replicas: value, note };
}

/**
 * Returns a topology whose variable for the replicas, if its class names one and nobody set it, has the value of the
 * field. Without this, the default of the variable would win over a field that somebody set.
 */
export function withReplicasVariable({ metadata, status }: ClusterClass, topology: Topology): Topology {
  const name = metadata.annotations?.[replicasVariableAnnotation];
  const replicas = topology.controlPlane?.replicas;
  if (replicas === undefined || !status?.variables?.some((variable) => variable.name === name)) return topology;
  if (name === undefined || topology.variables?.some((variable) => variable.name === name)) return topology;
  return { ...topology, variables: [...(topology.variables ?? []), { name, value: replicas }] };
}
