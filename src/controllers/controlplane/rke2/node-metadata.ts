import { type Machine, type Node, Nodes, type RKE2Config, type RKE2ControlPlane } from '../../../api/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import { fieldManager, isDeleting, type Verdict } from '../../shared/index.ts';
import { controlPlaneMark } from '../machine-plane/health/control-plane-nodes.ts';
import { type ControlPlaneScope, clusterKeyOf } from '../machine-plane/scope.ts';

/** Tells whether the Node has the metadata its machine's config wants. */
export function metadataVerdict(_machine: Machine, node: Node, config: RKE2Config | undefined): Verdict {
  const { name = '', labels, annotations } = node.metadata;
  if (labels?.[controlPlaneMark] === undefined) {
    const message = `Node ${name} does not have the ${controlPlaneMark} label`;
    return { status: 'False', reason: 'NotUpToDate', message };
  }
  const missing = Object.entries(config?.spec.agentConfig?.nodeAnnotations ?? {})
    .filter(([key, value]) => annotations?.[key] !== value)
    .map(([key]) => key);
  return missing.length === 0
    ? { status: 'True', reason: 'UpToDate' }
    : { status: 'False', reason: 'NotUpToDate', message: `Node ${name} lacks the annotations ${missing.join(', ')}` };
}

/** Applies the control plane's annotations to its Nodes, because the kubelet has no option for them. */
export async function annotateNodes(scope: ControlPlaneScope<RKE2ControlPlane>): Promise<void> {
  const { context, controlPlane, dependencies, inspection, machines } = scope;
  const wanted = Object.entries(controlPlane.spec.agentConfig?.nodeAnnotations ?? {});
  if (!inspection || wanted.length === 0) return;
  const lister = dependencies.workloads.nodes(clusterKeyOf(scope));
  const client = dependencies.workloads.client(clusterKeyOf(scope));
  for (const machine of machines) {
    const name = machine.status?.nodeRef?.name;
    const node = name === undefined ? undefined : lister.get({ name });
    if (!node || name === undefined || isDeleting(machine)) continue;
    const missing = wanted.filter(([key, value]) => node.metadata.annotations?.[key] !== value);
    if (missing.length === 0) continue;
    const patch = { metadata: { annotations: Object.fromEntries(missing) } };
    await client.patch(Nodes, { name }, 'merge', patch, { fieldManager, signal: context.signal }).catch(ignoreNotFound);
  }
}
