import type { Node, Service } from '../../../../api/index.ts';
import { must } from '../../../../machinery/index.ts';
import { type CloudConf, confFlag, confNumber, confText } from '../cloud-conf.ts';

const prefix = 'loadbalancer.openstack.org/';
const internalAnnotation = 'service.beta.kubernetes.io/openstack-internal-load-balancer';
const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers';

export const balancerIdAnnotation = 'loadbalancer.openstack.org/load-balancer-id';

export interface MemberPlace {
  readonly name: string;
  readonly address: string;
}

export interface MonitorSpec {
  readonly delay: number;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxRetriesDown: number;
}

export interface BalancerPort {
  readonly protocol: string;
  readonly poolProtocol: string;
  readonly port: number;
  readonly nodePort: number;
}

/** Desired load balancer of a Service, from its annotations and the configuration. */
export interface BalancerSpec {
  readonly name: string;
  readonly id: string | undefined;
  readonly isInternal: boolean;
  readonly keepsFloatingIp: boolean;
  /** a specific address */
  readonly address: string | undefined;
  readonly floatingNetworkId: string | undefined;
  readonly floatingSubnetId: string | undefined;
  readonly subnetId: string | undefined;
  readonly memberSubnetId: string | undefined;
  readonly networkId: string | undefined;
  readonly provider: string | undefined;
  readonly flavorId: string | undefined;
  readonly availabilityZone: string | undefined;
  readonly algorithm: string;
  readonly connectionLimit: number;
  readonly timeouts: {
    readonly timeoutClientData?: number;
    readonly timeoutMemberConnect?: number;
    readonly timeoutMemberData?: number;
  };
  readonly allowedCidrs: readonly string[];
  readonly keepsClients: boolean;
  readonly monitor: MonitorSpec | undefined;
  readonly ports: readonly BalancerPort[];
  readonly members: readonly MemberPlace[];
}

/** A Service's request cannot be satisfied; the message is for its event. */
export class BalancerProblem extends Error {}

/** Name of a Service's load balancer, cut to octavia's limit. */
export function balancerName(clusterName: string, { metadata }: Service): string {
  return `kube_service_${clusterName}_${metadata.namespace}_${metadata.name}`.slice(0, 255);
}

export function floatingIpDescription(clusterName: string, { metadata }: Service): string {
  return `Floating IP for Kubernetes external service ${metadata.namespace}/${metadata.name} from cluster ${clusterName}`;
}

/** Reports whether this controller handles the Service's load balancer. */
export function wantsBalancer({ metadata, spec }: Service): boolean {
  return spec.type === 'LoadBalancer' && !spec.loadBalancerClass && metadata.deletionTimestamp === undefined;
}

export function balancerSpec(
  service: Service,
  nodes: readonly Node[],
  conf: CloudConf,
  clusterName: string,
): BalancerSpec {
  const annotations = service.metadata.annotations ?? {};
  const className = annotations[`${prefix}class`];
  const section = className === undefined ? undefined : `loadbalancerclass "${className.toLowerCase()}"`;
  if (section !== undefined && !conf.has(section))
    throw new BalancerProblem(`invalid loadbalancer class "${className}"`);
  const said = (name: string): string | undefined => annotations[prefix + name] || undefined;
  const setting = (name: string): string | undefined =>
    said(name) ?? (section && confText(conf, section, name)) ?? confText(conf, 'loadbalancer', name);
  const number = (name: string, otherwise: number): number => {
    const text = said(name);
    const found = Number(text ?? otherwise);
    if (!Number.isInteger(found)) throw new BalancerProblem(`invalid value ${text} of annotation ${prefix}${name}`);
    return found;
  };
  const flag = (name: string, otherwise: boolean): boolean => {
    const text = said(name);
    return text === undefined ? otherwise : text === 'true';
  };
  const usesProxy = flag('proxy-protocol', false);
  const isHttp = flag('x-forwarded-for', false);
  if (usesProxy && isHttp) {
    throw new BalancerProblem('annotation x-forwarded-for and annotation proxy-protocol cannot be used together');
  }
  const internalText = annotations[internalAnnotation];
  const milliseconds = {
    timeoutClientData: said('timeout-client-data'),
    timeoutMemberConnect: said('timeout-member-connect'),
    timeoutMemberData: said('timeout-member-data'),
  };
  const ports = service.spec.ports ?? [];
  if (ports.length === 0) throw new BalancerProblem('no service ports provided');
  const provider = setting('lb-provider');
  return {
    name: balancerName(clusterName, service),
    id: said('load-balancer-id'),
    isInternal: internalText === undefined ? confFlag(conf, 'loadbalancer', 'internal-lb') : internalText === 'true',
    keepsFloatingIp: flag('keep-floatingip', false),
    address: said('load-balancer-address') ?? (service.spec.loadBalancerIP || undefined),
    floatingNetworkId: setting('floating-network-id'),
    floatingSubnetId: setting('floating-subnet-id'),
    subnetId: setting('subnet-id'),
    memberSubnetId: setting('member-subnet-id'),
    networkId: setting('network-id'),
    provider,
    flavorId: setting('flavor-id'),
    availabilityZone: setting('availability-zone'),
    algorithm: (setting('lb-method') ?? (provider === 'ovn' ? 'SOURCE_IP_PORT' : 'ROUND_ROBIN')).toUpperCase(),
    connectionLimit: number('connection-limit', -1),
    timeouts: Object.fromEntries(
      Object.entries(milliseconds)
        .filter(([, text]) => text !== undefined)
        .map(([key, text]) => [key, Number(text)]),
    ),
    allowedCidrs: (service.spec.loadBalancerSourceRanges ?? []).map((range) => range.trim()),
    keepsClients: service.spec.sessionAffinity === 'ClientIP',
    monitor: flag('enable-health-monitor', confFlag(conf, 'loadbalancer', 'create-monitor'))
      ? {
          delay: number('health-monitor-delay', confNumber(conf, 'loadbalancer', 'monitor-delay', 5)),
          timeout: number('health-monitor-timeout', confNumber(conf, 'loadbalancer', 'monitor-timeout', 3)),
          maxRetries: number('health-monitor-max-retries', confNumber(conf, 'loadbalancer', 'monitor-max-retries', 1)),
          maxRetriesDown: number(
            'health-monitor-max-retries-down',
            confNumber(conf, 'loadbalancer', 'monitor-max-retries-down', 3),
          ),
        }
      : undefined,
    ports: ports.map(({ protocol = 'TCP', port, nodePort = 0 }) => ({
      protocol: isHttp && protocol === 'TCP' ? 'HTTP' : protocol,
      poolProtocol: usesProxy && protocol === 'TCP' ? 'PROXY' : isHttp && protocol === 'TCP' ? 'HTTP' : protocol,
      port,
      nodePort,
    })),
    members: nodes
      .filter(takesConnections)
      .map((node) => ({
        name: must(node.metadata.name, 'metadata.name'),
        address: must(internalAddress(node), 'internalAddress(node)'),
      }))
      .sort((left, right) => (left.name < right.name ? -1 : 1)),
  };
}

export function internalAddress({ status }: Node): string | undefined {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
}

function takesConnections(node: Node): boolean {
  return (
    node.metadata.deletionTimestamp === undefined &&
    node.metadata.labels?.[excludeLabel] === undefined &&
    Boolean(node.spec?.providerID) &&
    internalAddress(node) !== undefined
  );
}
