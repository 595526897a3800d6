import type { PodAttacher, PodConnector, PodExecutor, PodLogSource } from '../../apiserver/index.ts';
import { type Clock, statusError, type UnstructuredObject } from '../../machinery/index.ts';
import { podAttacher, podCommandRunner, podLogSource } from '../kubelet/pod-access.ts';
import { podLog } from './pod-log.ts';
import type { ClusterNode } from './workload-cluster.ts';

/** Requests of an API server to the kubelet of a Pod's node. */
export interface NodeAccess {
  readonly connect: PodConnector;
  readonly logs: PodLogSource;
  readonly execute: PodExecutor;
  readonly attach: PodAttacher;
}

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Provides access to the nodes of one cluster. `nodeOf` throws the API server's error for an unreachable node. */
export function nodeAccess(clock: Clock, nodeOf: (pod: UnstructuredObject) => ClusterNode): NodeAccess {
  const ofStaticPods = podLog(clock);
  const noStaticPod = (pod: UnstructuredObject): void => {
    if (!isStatic(pod)) return;
    throw statusError.badRequest(`commands cannot be run in simulated static Pods such as ${pod.metadata.name}`);
  };
  return {
    connect: async (pod, port) => nodeOf(pod).connect(pod, port),
    logs: (pod, options) => {
      const { pods } = nodeOf(pod);
      return isStatic(pod) ? ofStaticPods(pod, options) : podLogSource(pods, clock)(pod, options);
    },
    execute: (pod, command) => {
      noStaticPod(pod);
      return podCommandRunner(nodeOf(pod).pods)(pod, command);
    },
    attach: (pod, session) => {
      noStaticPod(pod);
      return podAttacher(nodeOf(pod).pods)(pod, session);
    },
  };
}

function isStatic({ metadata }: UnstructuredObject): boolean {
  return metadata.annotations?.[mirrorAnnotation] !== undefined;
}
