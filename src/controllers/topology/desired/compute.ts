import {
  clusterNameLabel,
  type HolderReference,
  type MachineDeployment,
  type MachineDeploymentTopology,
  topologyDeploymentNameLabel,
  topologyOwnedLabel,
} from '../../../api/index.ts';
import { type KubeObject, must, type UnstructuredObject } from '../../../machinery/index.ts';
import { textAt } from '../../shared/index.ts';
import { controlPlaneVariables, globalVariables, machineDeploymentVariables } from '../patches/builtin.ts';
import { applyPatches, type ExternalPatches, type PatchedTemplate, type VariablesFor } from '../patches/engine.ts';
import { completePlane, infrastructureRefPath, withOwnedFields } from './control-plane.ts';
import { forPatching, objectFrom, templateFrom, withPatched } from './from-template.ts';
import { chosenHealthCheck, healthCheckOf } from './health-check.ts';
import { deploymentOf } from './machine-deployment.ts';
import { defaultPlaneNaming, defaultWorkerNaming, nameFrom, prefixedName, stableSuffix } from './names.ts';
import { controlPlaneReplicas } from './replicas.ts';
import type { Blueprint, CurrentState, DesiredDeployment, DesiredState, DesiredVersions } from './types.ts';

/** The topology uses a worker class that the blueprint lacks. */
export class MissingClassError extends Error {
  constructor(worker: MachineDeploymentTopology, className: string, known: readonly string[]) {
    super(
      `spec.topology.workers.machineDeployments[${worker.name}].class: ClusterClass ${className} has no class ` +
        `"${worker.class}" of workers; it has: ${known.join(', ') || 'none'}`,
    );
    this.name = 'MissingClassError';
  }
}

/**
 * Computes all desired objects of a topology. Reads and writes nothing. Throws an Error that names the field or patch.
 */
export async function computeDesired(
  blueprint: Blueprint,
  current: CurrentState,
  versions: DesiredVersions,
  external: ExternalPatches,
): Promise<DesiredState> {
  const { cluster } = current;
  const { topology } = cluster.spec;
  const { spec: classSpec } = blueprint.class;
  const clusterName = cluster.metadata.name ?? '';
  const uid = cluster.metadata.uid ?? '';

  const infrastructureCluster = objectFrom({
    cluster,
    template: blueprint.infrastructureTemplate,
    name:
      cluster.spec.infrastructureRef?.name ??
      nameFrom(classSpec.infrastructure.naming?.template ?? defaultPlaneNaming, {
        cluster: clusterName,
        random: stableSuffix(uid, 'infrastructure'),
      }),
  });

  const { replicas, note } = controlPlaneReplicas(blueprint.class, topology);
  const planeLabels = {
    ...classSpec.controlPlane.metadata?.labels,
    ...topology.controlPlane?.metadata?.labels,
    [clusterNameLabel]: clusterName,
    [topologyOwnedLabel]: '',
  };
  const planeAnnotations = {
    ...classSpec.controlPlane.metadata?.annotations,
    ...topology.controlPlane?.metadata?.annotations,
  };
  const machinePrefix = `${clusterName}-`;
  const machineTemplate =
    blueprint.controlPlaneMachineTemplate &&
    templateFrom({
      cluster,
      template: blueprint.controlPlaneMachineTemplate,
      name: currentMachineTemplate(blueprint, current) ?? prefixedName(machinePrefix, stableSuffix(uid, 'machines')),
    });
  const plane = completePlane(
    objectFrom({
      cluster,
      template: blueprint.controlPlaneTemplate,
      name:
        cluster.spec.controlPlaneRef?.name ??
        nameFrom(classSpec.controlPlane.naming?.template ?? defaultPlaneNaming, {
          cluster: clusterName,
          random: stableSuffix(uid, 'control-plane'),
        }),
      labels: planeLabels,
      annotations: planeAnnotations,
    }),
    {
      class: blueprint.class,
      topology,
      contract: blueprint.controlPlaneContract,
      version: versions.controlPlane,
      replicas,
      labels: planeLabels,
      annotations: planeAnnotations,
      machineTemplate,
    },
  );

  const workers = (topology.workers?.machineDeployments ?? []).flatMap((worker) => {
    const version = versions.deployments.get(worker.name);
    return version === undefined ? [] : [workerParts(blueprint, current, worker, version)];
  });

  const holder = (object: KubeObject, fieldPath: string): HolderReference => ({
    apiVersion: object.apiVersion,
    kind: object.kind,
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name ?? '',
    fieldPath,
  });
  const templates: PatchedTemplate[] = [];
  const owners = new Map<string, 'plane' | MachineDeploymentTopology>();
  const deploymentsByUid = new Map<string, MachineDeployment>();
  const offer = (
    template: UnstructuredObject,
    object: UnstructuredObject,
    place: PatchedTemplate['place'],
    holderReference: HolderReference,
  ): string => {
    // upstream uses a random uid per request; here it is stable, so that equal requests are identical
    const itemUid = `${stableSuffix(uid, holderReference.name, holderReference.fieldPath)}-${templates.length}`;
    templates.push({
      item: { uid: itemUid, holderReference },
      place,
      object: forPatching(template, object),
      variables: [],
    });
    return itemUid;
  };
  const infrastructureItem = offer(
    blueprint.infrastructureTemplate,
    infrastructureCluster,
    { part: 'infrastructureCluster' },
    holder(cluster, 'spec.infrastructureRef'),
  );
  const planeItem = offer(
    blueprint.controlPlaneTemplate,
    plane,
    { part: 'controlPlane' },
    holder(cluster, 'spec.controlPlaneRef'),
  );
  owners.set(planeItem, 'plane');
  const machineItem =
    machineTemplate &&
    offer(
      must(blueprint.controlPlaneMachineTemplate, 'the template of the class'),
      machineTemplate,
      { part: 'controlPlane' },
      holder(plane, infrastructureRefPath(blueprint.controlPlaneContract).join('.')),
    );
  if (machineItem !== undefined) owners.set(machineItem, 'plane');
  const workerItems = workers.map((worker) => {
    const place = { part: 'machineDeployment', class: worker.topology.class } as const;
    const made = must(blueprint.workers.get(worker.topology.class), 'the class of workers');
    const items = {
      bootstrap: offer(
        made.bootstrapTemplate,
        worker.bootstrapTemplate.object,
        place,
        holder(worker.object, 'spec.template.spec.bootstrap.configRef'),
      ),
      infrastructure: offer(
        made.infrastructureTemplate,
        worker.infrastructureTemplate.object,
        place,
        holder(worker.object, 'spec.template.spec.infrastructureRef'),
      ),
    };
    for (const item of Object.values(items)) {
      owners.set(item, worker.topology);
      deploymentsByUid.set(item, worker.object);
    }
    return items;
  });

  const variablesFor: VariablesFor = (from) => {
    const visible = new Set(
      (blueprint.class.status?.variables ?? [])
        .filter(({ definitions }) => definitions.some((definition) => definition.from === from))
        .map(({ name }) => name),
    );
    const isVisible = (name: string): boolean => visible.has(name);
    return {
      globals: globalVariables(cluster, isVisible),
      of({ item }) {
        const owner = owners.get(item.uid);
        if (owner === undefined) return [];
        if (owner === 'plane') return controlPlaneVariables(topology, plane, machineTemplate, isVisible);
        return machineDeploymentVariables(
          owner,
          must(deploymentsByUid.get(item.uid), 'the workers of a template'),
          isVisible,
        );
      },
    };
  };
  const patched = await applyPatches(classSpec.patches ?? [], templates, variablesFor, external);
  const result = new Map(patched.map(({ item, object }) => [item.uid, object]));
  const after = (item: string, object: UnstructuredObject): UnstructuredObject =>
    withPatched(object, result.get(item) ?? object);

  const planeCheck =
    machineTemplate && chosenHealthCheck(classSpec.controlPlane.healthCheck, topology.controlPlane?.healthCheck);
  return {
    infrastructureCluster: after(infrastructureItem, infrastructureCluster),
    controlPlane: {
      object: withOwnedFields(after(planeItem, plane), plane),
      ...(machineTemplate && {
        machineTemplate: {
          object: after(machineItem ?? '', machineTemplate),
          prefix: machinePrefix,
          role: 'control-plane-machines',
        },
      }),
      ...(planeCheck && { healthCheck: healthCheckOf(cluster, plane.metadata.name ?? '', planeCheck) }),
    },
    deployments: workers.map((worker, i): DesiredDeployment => {
      const { bootstrap, infrastructure } = must(workerItems[i], 'the templates of workers');
      return {
        ...worker,
        bootstrapTemplate: {
          ...worker.bootstrapTemplate,
          object: after(bootstrap, worker.bootstrapTemplate.object),
        },
        infrastructureTemplate: {
          ...worker.infrastructureTemplate,
          object: after(infrastructure, worker.infrastructureTemplate.object),
        },
      };
    }),
    notes: note === undefined ? [] : [note],
  };
}

function currentMachineTemplate(
  { controlPlaneContract }: Blueprint,
  { controlPlane }: CurrentState,
): string | undefined {
  if (!controlPlane) return undefined;
  // the stored object may have a newer version than the class refers to
  return (
    textAt(controlPlane, ...infrastructureRefPath(controlPlaneContract), 'name') ??
    textAt(controlPlane, ...infrastructureRefPath('v1beta2'), 'name') ??
    textAt(controlPlane, ...infrastructureRefPath('v1beta1'), 'name')
  );
}

function workerParts(
  blueprint: Blueprint,
  current: CurrentState,
  worker: MachineDeploymentTopology,
  version: string,
): DesiredDeployment {
  const { cluster } = current;
  const clusterName = cluster.metadata.name ?? '';
  const uid = cluster.metadata.uid ?? '';
  const made = blueprint.workers.get(worker.class);
  if (!made) {
    const known = (blueprint.class.spec.workers?.machineDeployments ?? []).map((candidate) => candidate.class);
    throw new MissingClassError(worker, blueprint.class.metadata.name ?? '', known);
  }
  const existing = current.deployments.get(worker.name);
  const prefix = `${clusterName}-${worker.name}-`;
  const labels = { [topologyDeploymentNameLabel]: worker.name };
  const template = (kind: 'bootstrap' | 'infrastructure', name: string | undefined): UnstructuredObject =>
    templateFrom({
      cluster,
      template: kind === 'bootstrap' ? made.bootstrapTemplate : made.infrastructureTemplate,
      name: name ?? prefixedName(prefix, stableSuffix(uid, worker.name, kind)),
      labels,
    });
  const references = existing?.spec.template.spec;
  const bootstrapTemplate = template('bootstrap', references?.bootstrap.configRef?.name);
  const infrastructureTemplate = template('infrastructure', references?.infrastructureRef.name);
  const object = deploymentOf({
    cluster,
    class: made.class,
    topology: worker,
    name:
      existing?.metadata.name ??
      nameFrom(made.class.naming?.template ?? defaultWorkerNaming, {
        cluster: clusterName,
        machineDeployment: worker.name,
        random: stableSuffix(uid, worker.name),
      }),
    version,
    bootstrapTemplate,
    infrastructureTemplate,
  });
  const check = chosenHealthCheck(made.class.healthCheck, worker.healthCheck);
  return {
    topology: worker,
    object,
    bootstrapTemplate: { object: bootstrapTemplate, prefix, role: `${worker.name}/bootstrap` },
    infrastructureTemplate: { object: infrastructureTemplate, prefix, role: `${worker.name}/infrastructure` },
    ...(check && { healthCheck: healthCheckOf(cluster, object.metadata.name ?? '', check, worker.name) }),
  };
}
