import type { Service, ServicePort } from '../../api/index.ts';
import { type ClusterServices, inTurn, type Target } from './cluster-services.ts';

/** What kube-proxy does on every node for Services of the types NodePort and LoadBalancer. */
export interface NodePorts {
  /** ports the nodes serve, TCP alone */
  all(): ReadonlySet<number>;
  /** where the next connection to a port of the node goes; undefined: no Service has it, or nobody is behind it */
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

/** The ports of a Service that nodes serve. */
export function nodePortsOf({ spec }: Service): (ServicePort & { nodePort: number })[] {
  if (spec.type !== 'NodePort' && spec.type !== 'LoadBalancer') return [];
  return (spec.ports ?? []).filter(
    (port): port is ServicePort & { nodePort: number } =>
      (port.protocol ?? 'TCP') === 'TCP' && port.nodePort !== undefined && port.nodePort > 0,
  );
}
