import type { Service, ServicePort } from '../../api/index.ts';
import { type ClusterServices, inTurn, type Target } from './cluster-services.ts';

/** Node ports of NodePort and LoadBalancer Services, as kube-proxy serves them on every node. */
export interface NodePorts {
  /** TCP ports served by the nodes */
  all(): ReadonlySet<number>;
  /** target of the next connection to a node port; undefined if no Service has the port, or it has no endpoints */
  target(nodePort: number): Target | undefined;
}

export function nodePorts(services: Pick<ClusterServices, 'targets'>, list: () => Iterable<Service>): NodePorts {
  const next = inTurn(services);
  return {
    all: () => new Set([...list()].flatMap(nodePortsOf).map(({ nodePort }) => nodePort)),
    target(nodePort) {
      for (const service of list()) {
        const port = nodePortsOf(service).find((candidate) => candidate.nodePort === nodePort);
        if (port) return next(service, port);
      }
      return undefined;
    },
  };
}

/** Node ports of a Service. */
export function nodePortsOf({ spec }: Service): (ServicePort & { nodePort: number })[] {
  if (spec.type !== 'NodePort' && spec.type !== 'LoadBalancer') return [];
  return (spec.ports ?? []).filter(
    (port): port is ServicePort & { nodePort: number } =>
      (port.protocol ?? 'TCP') === 'TCP' && port.nodePort !== undefined && port.nodePort > 0,
  );
}
