import {
  type Cluster,
  conversionDataAnnotation,
  type HookVariable,
  type MachineDeployment,
  type MachineDeploymentTopology,
  type Topology,
  type TopologyVariable,
} from '../../../api/index.ts';
import type { JsonObject, KubeObject, UnstructuredObject } from '../../../machinery/index.ts';
import { lastAppliedAnnotation, numberAt, textAt } from '../../shared/index.ts';

/** Tells whether a patch can use a variable of the class. */
export type IsVisible = (name: string) => boolean;

const chosen = (variables: readonly TopologyVariable[] | undefined, isVisible: IsVisible): HookVariable[] =>
  (variables ?? [])
    .filter(({ name }) => name !== 'builtin' && isVisible(name))
    .map(({ name, value }) => ({ name, value }));

const builtin = (value: JsonObject): HookVariable => ({ name: 'builtin', value });

function metadataOf({ metadata }: KubeObject): JsonObject {
  const { labels, annotations } = metadata;
  if (!labels && !annotations) return {};
  const { [lastAppliedAnnotation]: _, [conversionDataAnnotation]: __, ...rest } = annotations ?? {};
  return { metadata: { ...(labels && { labels }), ...(annotations && { annotations: rest }) } };
}

/** Variables for all templates. */
export function globalVariables(
  cluster: Cluster & { spec: { topology: Topology } },
  isVisible: IsVisible,
): HookVariable[] {
  const { metadata, spec } = cluster;
  const { topology, clusterNetwork } = spec;
  const { name, namespace = metadata.namespace ?? '' } = topology.classRef;
  const network: JsonObject = {
    ...(clusterNetwork?.serviceDomain !== undefined && { serviceDomain: clusterNetwork.serviceDomain }),
    ...(clusterNetwork?.services && { services: clusterNetwork.services.cidrBlocks }),
    ...(clusterNetwork?.pods && { pods: clusterNetwork.pods.cidrBlocks }),
  };
  return [
    ...chosen(topology.variables, isVisible),
    builtin({
      cluster: {
        name: metadata.name ?? '',
        namespace: metadata.namespace ?? '',
        uid: metadata.uid ?? '',
        ...metadataOf(cluster),
        topology: { version: topology.version, class: name, classNamespace: namespace, classRef: { name, namespace } },
        ...(Object.keys(network).length > 0 && { network }),
      },
    }),
  ];
}

/** Additional variables for control plane templates. */
export function controlPlaneVariables(
  topology: Topology,
  plane: UnstructuredObject,
  machineTemplate: UnstructuredObject | undefined,
  isVisible: IsVisible,
): HookVariable[] {
  const replicas = numberAt(plane, 'spec', 'replicas');
  return [
    ...chosen(topology.controlPlane?.variables?.overrides, isVisible),
    builtin({
      controlPlane: {
        name: plane.metadata.name ?? '',
        version: textAt(plane, 'spec', 'version') ?? '',
        ...metadataOf(plane),
        ...(replicas !== undefined && { replicas }),
        ...(machineTemplate && {
          machineTemplate: { infrastructureRef: { name: machineTemplate.metadata.name ?? '' } },
        }),
      },
    }),
  ];
}

/** Additional variables for worker templates. */
export function machineDeploymentVariables(
  topology: MachineDeploymentTopology,
  deployment: MachineDeployment,
  isVisible: IsVisible,
): HookVariable[] {
  const { spec, metadata } = deployment;
  const { version = '', bootstrap, infrastructureRef } = spec.template.spec;
  return [
    ...chosen(topology.variables?.overrides, isVisible),
    builtin({
      machineDeployment: {
        class: topology.class,
        name: metadata.name ?? '',
        topologyName: topology.name,
        version,
        ...(spec.replicas !== undefined && { replicas: spec.replicas }),
        ...metadataOf(deployment),
        bootstrap: { configRef: { name: bootstrap.configRef?.name ?? '' } },
        infrastructureRef: { name: infrastructureRef.name },
      },
    }),
  ];
}
