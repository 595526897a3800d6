import type { ClusterObjects } from './cluster-objects.ts';
import {
  type AnyObject,
  type ObjectReference,
  objectsAt,
  referenceAt,
  referenceKey,
  referenceOf,
  textAt,
} from './fields.ts';
import { grouped } from './grouping.ts';
import { missingNode, objectNode, virtualNode } from './nodes.ts';
import { addonsNode, topologyNode } from './topology-node.ts';
import type { TreeNode, TreeOptions } from './tree.ts';

const controlPlaneLabel = 'cluster.x-k8s.io/control-plane';
const templatesRank = 1;

/**
 * Builds the tree of a cluster: infrastructure, control plane and workers with their machines. It depends only on the
 * objects; a missing reference gets a line of its own.
 */
export function clusterTree(found: ClusterObjects, options: TreeOptions): TreeNode {
  const { cluster } = found;
  const world = indexObjects(found);
  const root = objectNode(cluster, options);
  const topology = topologyNode(cluster);
  if (topology) root.children.push(topology);
  const addons = addonsNode(world.ofKind('ClusterAddon'), options);
  if (addons) root.children.push(addons);
  const infrastructureRef = referenceAt(cluster, 'spec', 'infrastructureRef');
  const infrastructure = world.find(infrastructureRef);
  if (infrastructure) root.children.push(objectNode(infrastructure, options, 'ClusterInfrastructure'));
  else addMissing(root, 'ClusterInfrastructure', infrastructureRef, world);
  if (options.showResourceSets) addResourceSets(root, cluster, world, options);

  const placed = new Set<AnyObject>();
  const machineNodes = (machines: readonly AnyObject[]): TreeNode[] => {
    for (const machine of machines) placed.add(machine);
    return grouped(
      machines.map((machine) => machineNode(machine, world, options)),
      options,
    );
  };

  const controlPlaneRef = referenceAt(cluster, 'spec', 'controlPlaneRef');
  const controlPlane = world.find(controlPlaneRef);
  const machines = world.ofKind('Machine');
  if (controlPlane) {
    const node = objectNode(controlPlane, options, 'ControlPlane');
    addTemplates(node, options, [
      [
        'MachineInfrastructureTemplate',
        referenceAt(controlPlane, 'spec', 'machineTemplate', 'spec', 'infrastructureRef') ??
          referenceAt(controlPlane, 'spec', 'machineTemplate', 'infrastructureRef'),
      ],
    ]);
    node.children.push(...machineNodes(machines.filter(isControlPlaneMachine)));
    root.children.push(node);
  } else {
    addMissing(root, 'ControlPlane', controlPlaneRef, world);
  }
  const workers = virtualNode('Workers');
  for (const deployment of world.ofKind('MachineDeployment')) {
    workers.children.push(deploymentNode(deployment, world, machineNodes, options));
  }
  for (const set of world.ofKind('MachineSet')) {
    if (isControlledByAny(set, world.ofKind('MachineDeployment'))) continue;
    workers.children.push(setNode(set, world, machineNodes, options));
  }
  for (const pool of world.ofKind('MachinePool')) {
    const node = objectNode(pool, options);
    const parts = [
      ['MachinePoolInfrastructure', 'infrastructureRef'],
      ['BootstrapConfig', 'bootstrap', 'configRef'],
    ] as const;
    for (const [role, ...path] of parts)
      addPart(node, role, referenceAt(pool, 'spec', 'template', 'spec', ...path), world, options);
    node.children.push(...machineNodes(machines.filter((machine) => isControlledBy(machine, pool))));
    workers.children.push(node);
  }
  const strays = machines.filter((machine) => !placed.has(machine));
  if (strays.length > 0) {
    const other = virtualNode('Other');
    other.children.push(...machineNodes(strays));
    workers.children.push(other);
  }
  if (workers.children.length > 0) root.children.push(workers);
  sortChildren(root);
  return root;
}

interface World {
  find(reference: ObjectReference | undefined): AnyObject | undefined;
  ofKind(kind: string): readonly AnyObject[];
  isMissing(reference: ObjectReference): boolean;
}

function indexObjects({ objects, missing = [] }: ClusterObjects): World {
  const lost = new Set(missing.map(referenceKey));
  const byReference = new Map<string, AnyObject>();
  const byKind = new Map<string, AnyObject[]>();
  for (const object of objects) {
    byReference.set(referenceKey(referenceOf(object)), object);
    const others = byKind.get(object.kind);
    if (others) others.push(object);
    else byKind.set(object.kind, [object]);
  }
  return {
    find: (reference) => reference && byReference.get(referenceKey(reference)),
    ofKind: (kind) => byKind.get(kind) ?? [],
    isMissing: (reference) => lost.has(referenceKey(reference)),
  };
}

function deploymentNode(
  deployment: AnyObject,
  world: World,
  machineNodes: (machines: readonly AnyObject[]) => TreeNode[],
  options: TreeOptions,
): TreeNode {
  const node = objectNode(deployment, options);
  addTemplates(node, options, [
    ['BootstrapConfigTemplate', referenceAt(deployment, 'spec', 'template', 'spec', 'bootstrap', 'configRef')],
    ['MachineInfrastructureTemplate', referenceAt(deployment, 'spec', 'template', 'spec', 'infrastructureRef')],
  ]);
  const sets = world.ofKind('MachineSet').filter((set) => isControlledBy(set, deployment));
  if (options.showMachineSets) {
    node.children.push(...sets.map((set) => setNode(set, world, machineNodes, options)));
  } else {
    node.children.push(...machineNodes(world.ofKind('Machine').filter((machine) => isControlledByAny(machine, sets))));
  }
  return node;
}

function setNode(
  set: AnyObject,
  world: World,
  machineNodes: (machines: readonly AnyObject[]) => TreeNode[],
  options: TreeOptions,
): TreeNode {
  const node = objectNode(set, options);
  node.children.push(...machineNodes(world.ofKind('Machine').filter((machine) => isControlledBy(machine, set))));
  return node;
}

function machineNode(machine: AnyObject, world: World, options: TreeOptions): TreeNode {
  const node = objectNode(machine, options);
  addPart(node, 'MachineInfrastructure', referenceAt(machine, 'spec', 'infrastructureRef'), world, options);
  addPart(node, 'BootstrapConfig', referenceAt(machine, 'spec', 'bootstrap', 'configRef'), world, options);
  return node;
}

/** Parts of a machine that are good, or repeat its message, are shown only on request. */
function addPart(
  parent: TreeNode,
  role: string,
  reference: ObjectReference | undefined,
  world: World,
  options: TreeOptions,
): void {
  const object = world.find(reference);
  if (!object) return addMissing(parent, role, reference, world);
  const node = objectNode(object, options, role);
  const echoes =
    node.condition?.status === 'True' ||
    (node.condition?.status === parent.condition?.status &&
      node.condition?.severity === parent.condition?.severity &&
      node.condition?.reason === parent.condition?.reason);
  if (!echoes || options.echo || node.shownConditions.length > 0) parent.children.push(node);
}

/** Parts that are gone are not reported while their owner is being deleted. */
function addMissing(parent: TreeNode, role: string, reference: ObjectReference | undefined, world: World): void {
  if (reference && !parent.deleting && world.isMissing(reference)) parent.children.push(missingNode(reference, role));
}

function addTemplates(
  parent: TreeNode,
  options: TreeOptions,
  templates: readonly (readonly [role: string, reference: ObjectReference | undefined])[],
): void {
  if (!options.showTemplates) return;
  const group = virtualNode('Templates', templatesRank);
  for (const [role, reference] of templates) {
    if (reference) group.children.push(virtualNode(`${role} - ${reference.kind}/${reference.name}`));
  }
  if (group.children.length > 0) parent.children.push(group);
}

function addResourceSets(root: TreeNode, cluster: AnyObject, world: World, options: TreeOptions): void {
  const binding = world
    .ofKind('ClusterResourceSetBinding')
    .find(({ metadata }) => metadata.name === cluster.metadata.name);
  const group = virtualNode('ClusterResourceSets');
  for (const entry of objectsAt(binding, 'spec', 'bindings') ?? []) {
    const name = textAt(entry, 'clusterResourceSetName');
    if (name === undefined) continue;
    const set = world.ofKind('ClusterResourceSet').find(({ metadata }) => metadata.name === name);
    group.children.push(set ? objectNode(set, options) : virtualNode(`ClusterResourceSet/${name}`));
  }
  if (group.children.length > 0) root.children.push(group);
}

function isControlPlaneMachine({ metadata }: AnyObject): boolean {
  return metadata.labels?.[controlPlaneLabel] !== undefined;
}

function isControlledBy(object: AnyObject, owner: AnyObject): boolean {
  const controller = object.metadata.ownerReferences?.find((reference) => reference.controller === true);
  return controller !== undefined && controller.uid === owner.metadata.uid;
}

function isControlledByAny(object: AnyObject, owners: readonly AnyObject[]): boolean {
  return owners.some((owner) => isControlledBy(object, owner));
}

function sortChildren(node: TreeNode): void {
  node.children.sort((a, b) => b.rank - a.rank || (a.title < b.title ? -1 : a.title > b.title ? 1 : 0));
  for (const child of node.children) sortChildren(child);
}
