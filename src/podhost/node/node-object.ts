import type { Node, Taint } from '../../api/index.ts';
import { nodeConditions, type Readiness } from '../../simkube/index.ts';

export interface NodeFacts {
  readonly name: string;
  readonly address: string;
  /** name of the container runtime */
  readonly runtime: string;
  /** version of the API server */
  readonly version: string;
  readonly machineId: string;
  readonly architecture: string;
  /** in addition to the standard labels */
  readonly labels?: Readonly<Record<string, string>>;
  /** initial taints */
  readonly taints?: readonly Taint[];
}

const isUp: Readiness = { isReady: true, reason: '' };

/**
 * More than any control plane needs: programs of a simulation use almost nothing, and a Pod about 150 KiB of memory.
 */
export const nodeResources: Readonly<Record<string, string>> = {
  cpu: '1024',
  'ephemeral-storage': '16Ti',
  memory: '4Ti',
  pods: '10000',
};

/** Builds the Node object of the Pod host. */
export function nodeObject(facts: NodeFacts, nowMs: number, before?: Node, readiness: Readiness = isUp): Node {
  const { name, architecture } = facts;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/arch': architecture,
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        ...facts.labels,
      },
    },
    ...(facts.taints && facts.taints.length > 0 && { spec: { taints: [...facts.taints] } }),
    status: {
      addresses: [
        { type: 'InternalIP', address: facts.address },
        { type: 'Hostname', address: name },
      ],
      capacity: { ...nodeResources },
      allocatable: { ...nodeResources },
      conditions: nodeConditions(nowMs, readiness, before?.status?.conditions),
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      nodeInfo: {
        architecture,
        bootID: facts.machineId,
        containerRuntimeVersion: facts.runtime,
        kernelVersion: 'none',
        kubeProxyVersion: facts.version,
        kubeletVersion: facts.version,
        machineID: facts.machineId,
        operatingSystem: 'linux',
        osImage: 'capstan',
        systemUUID: facts.machineId,
      },
    },
  };
}
