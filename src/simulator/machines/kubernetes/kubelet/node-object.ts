import type { Node, Taint } from '../../../../api/index.ts';
import { nodeConditions, type Readiness, uninitializedTaint } from '../../../../simkube/index.ts';
import type { RunningMachine } from '../../types.ts';
import { parseLabels, parseTaints } from './flags.ts';

export interface NodeFacts {
  readonly name: string;
  readonly flags: ReadonlyMap<string, string>;
  readonly kubeletVersion: string;
  readonly bootId: string;
}

/** Builds the Node that a kubelet registers. */
export function newNode(machine: RunningMachine, facts: NodeFacts): Node {
  const { name, flags } = facts;
  const isExternal = flags.get('cloud-provider') === 'external';
  // A kubelet with the in-tree cloud provider, up to 1.25, reads its id from the metadata service.
  const builtIn = flags.get('cloud-provider') === 'openstack' ? `openstack:///${machine.server.id}` : undefined;
  const providerId = flags.get('provider-id') || builtIn;
  const taints: Taint[] = [
    { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
    ...(isExternal ? [{ key: uninitializedTaint, value: 'true', effect: 'NoSchedule' }] : []),
    ...parseTaints(flags.get('register-with-taints')),
  ];
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...parseLabels(flags.get('node-labels')),
      },
      annotations: { 'volumes.kubernetes.io/controller-managed-attach-detach': 'true' },
    },
    spec: {
      ...(providerId !== undefined && { providerID: providerId }),
      taints,
    },
    status: nodeStatus(machine, facts, { isReady: false, reason: notReadyYet }),
  };
}

export const notReadyYet = 'container runtime status check may not have completed yet';
export const noNetwork =
  'container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized';

/** Builds the reported status. Unchanged conditions keep their transition time. */
export function nodeStatus(
  machine: RunningMachine,
  facts: NodeFacts,
  readiness: Readiness,
  before?: Node,
): NonNullable<Node['status']> {
  const isExternal = facts.flags.get('cloud-provider') === 'external';
  const addresses = before?.status?.addresses;
  const isInitialized = before !== undefined && !before.spec?.taints?.some(({ key }) => key === uninitializedTaint);
  return {
    // With an external cloud provider, the cloud controller manager owns the addresses once it has initialized the
    // Node.
    addresses: isExternal && isInitialized && addresses ? addresses : ownAddresses(machine, facts.name),
    capacity: capacityOf(machine),
    allocatable: allocatableOf(machine),
    conditions: nodeConditions(machine.clock.now(), readiness, before?.status?.conditions),
    daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
    nodeInfo: {
      architecture: 'amd64',
      bootID: facts.bootId,
      containerRuntimeVersion: containerRuntime,
      kernelVersion: '6.8.0-simulated',
      kubeProxyVersion: facts.kubeletVersion,
      kubeletVersion: facts.kubeletVersion,
      machineID: machine.server.id.replaceAll('-', ''),
      operatingSystem: 'linux',
      osImage: machine.server.image?.name ?? 'simulated machine',
      systemUUID: machine.server.id,
    },
  };
}

export const containerRuntime = 'containerd://2.1.4';

function capacityOf({ server: { flavor } }: RunningMachine): Record<string, string> {
  return {
    cpu: String(flavor.vcpus),
    'ephemeral-storage': `${Math.max(flavor.diskGiB, 1) * 1024 * 1024}Ki`,
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
    memory: `${flavor.ramMiB * 1024}Ki`,
    pods: '110',
  };
}

/** Returns the allocatable resources. */
export function allocatableOf(machine: RunningMachine): Record<string, string> {
  return { ...capacityOf(machine), memory: `${Math.max(machine.server.flavor.ramMiB - 100, 0) * 1024}Ki` };
}

export function ownAddresses(machine: RunningMachine, name: string): { type: string; address: string }[] {
  return [
    ...machine.addresses.slice(0, 1).map((address) => ({ type: 'InternalIP', address })),
    { type: 'Hostname', address: name },
  ];
}
