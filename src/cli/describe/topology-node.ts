import { isJsonObject, type JsonValue, jsonText } from '../../machinery/index.ts';
import { type AnyObject, at, objectsAt, textAt } from './fields.ts';
import { objectNode, virtualNode } from './nodes.ts';
import type { TreeNode, TreeOptions } from './tree.ts';

/** The topology comes first, because the other objects are generated from it. */
const topologyRank = 3;
const addonsRank = 2;
/** Longer values are truncated; the Cluster has them in full. */
const maxValue = 60;
const pendingHooks = 'runtime.cluster.x-k8s.io/pending-hooks';

/** Builds the line of a topology: class, version, variables and pending hooks. */
export function topologyNode(cluster: AnyObject): TreeNode | undefined {
  if (!isJsonObject(at(cluster, 'spec', 'topology'))) return undefined;
  const name =
    textAt(cluster, 'spec', 'topology', 'classRef', 'name') ?? textAt(cluster, 'spec', 'topology', 'class') ?? '';
  const version = textAt(cluster, 'spec', 'topology', 'version') ?? '';
  // A faulty state is shown below the line of the Cluster.
  const node = virtualNode(`Topology - ClusterClass/${name} ${version}`.trimEnd(), topologyRank);
  const variables = virtualNode('Variables');
  variables.children.push(...variableNodes(cluster, '', 'spec', 'topology', 'variables'));
  variables.children.push(
    ...variableNodes(cluster, 'controlPlane ', 'spec', 'topology', 'controlPlane', 'variables', 'overrides'),
  );
  for (const worker of objectsAt(cluster, 'spec', 'topology', 'workers', 'machineDeployments') ?? []) {
    const prefix = `${String(worker['name'])} `;
    variables.children.push(...variableNodes(worker, prefix, 'variables', 'overrides'));
  }
  if (variables.children.length > 0) node.children.push(variables);
  const hooks = at(cluster, 'metadata', 'annotations', pendingHooks);
  if (typeof hooks === 'string' && hooks !== '') {
    const waiting = virtualNode('Hooks to be called');
    waiting.children.push(...hooks.split(',').map((hook) => virtualNode(hook)));
    node.children.push(waiting);
  }
  return node;
}

export function addonsNode(addons: readonly AnyObject[], options: TreeOptions): TreeNode | undefined {
  if (addons.length === 0) return undefined;
  const node = virtualNode('Add-ons', addonsRank);
  node.children.push(...addons.map((addon) => objectNode(addon, options)));
  return node;
}

function variableNodes(object: Parameters<typeof objectsAt>[0], prefix: string, ...path: string[]): TreeNode[] {
  return (objectsAt(object, ...path) ?? []).map(({ name, value }) =>
    virtualNode(`${prefix}${String(name)} = ${shortText(value as JsonValue)}`),
  );
}

function shortText(value: JsonValue): string {
  const text = jsonText(value);
  return text.length > maxValue ? `${text.slice(0, maxValue)}…` : text;
}
