import { must } from '../../machinery/index.ts';
import type { NetworkService, PortView } from '../core/contracts.ts';
import { Refusal } from '../core/refusal.ts';
import { contains, knownCidr } from '../network/addressing/cidr.ts';
import { knownIp } from '../network/addressing/ip.ts';
import type { Values } from './body/shape.ts';
import type { Octavia } from './octavia.ts';
import { invalid, noSuch } from './refusals.ts';
import type { ListenerRow, LoadBalancerRow } from './rows.ts';

/** Source of the address of a load balancer. */
export interface VipPlan {
  readonly networkId: string;
  readonly subnetId: string;
  /** undefined: any */
  readonly address: string | undefined;
  /** existing port of the user */
  readonly port: PortView | undefined;
}

export type Vip = Pick<
  LoadBalancerRow,
  | 'vip_address'
  | 'vip_port_id'
  | 'vip_subnet_id'
  | 'vip_network_id'
  | 'owns_port'
  | 'security_group_id'
  | 'additional_vips'
>;

/** An additional address. Without an address any free one of the subnet is used. */
export interface AdditionalPlan {
  readonly subnetId: string;
  readonly address: string | undefined;
}

/** Determines the network, subnet and address that a body asks for. */
export function planVip({ core }: Octavia, values: Values, canSee: (networkId: string) => boolean): VipPlan {
  const { network } = core.services;
  const portId = values['vip_port_id'] as string | null | undefined;
  const networkId = values['vip_network_id'] as string | null | undefined;
  const subnetId = values['vip_subnet_id'] as string | null | undefined;
  const address = (values['vip_address'] as string | null | undefined) ?? undefined;
  if (portId) return planByPort(network, { portId, subnetId: subnetId ?? undefined, address }, canSee);
  if (networkId) return planByNetwork(network, { networkId, subnetId: subnetId ?? undefined, address }, canSee);
  if (subnetId) {
    const subnet = network.subnet(subnetId);
    if (!subnet || !canSee(subnet.networkId)) throw noSuch('Subnet', subnetId);
    return { networkId: subnet.networkId, subnetId, address, port: undefined };
  }
  throw invalid('VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.');
}

function planByPort(
  network: NetworkService,
  { portId, subnetId, address }: { portId: string; subnetId: string | undefined; address: string | undefined },
  canSee: (networkId: string) => boolean,
): VipPlan {
  const port = network.port(portId);
  if (!port || !canSee(port.networkId)) throw noSuch('Port', portId);
  if (port.deviceId !== '') throw new Refusal(409, `Port ${portId} is already used by device ${port.deviceId} `);
  const found = port.fixedIps.find(
    (fixed) =>
      (subnetId === undefined || fixed.subnetId === subnetId) && (address === undefined || fixed.address === address),
  );
  if (!found && subnetId !== undefined) {
    throw invalid('No VIP address found on the specified VIP port within the specified subnet.');
  }
  if (!found && address !== undefined) throw invalid('Specified VIP address not found on the specified VIP port.');
  if (!found || (subnetId === undefined && address === undefined && port.fixedIps.length > 1)) {
    throw invalid("VIP port's subnet could not be determined. Please specify either a VIP subnet or address.");
  }
  return { networkId: port.networkId, subnetId: found.subnetId, address: found.address, port };
}

function planByNetwork(
  network: NetworkService,
  { networkId, subnetId, address }: { networkId: string; subnetId: string | undefined; address: string | undefined },
  canSee: (networkId: string) => boolean,
): VipPlan {
  const found = network.network(networkId);
  if (!found || !canSee(networkId)) throw noSuch('Network', networkId);
  const plan = (id: string): VipPlan => ({ networkId, subnetId: id, address, port: undefined });
  if (subnetId !== undefined) {
    if (!found.subnetIds.includes(subnetId)) throw noSuch('Subnet', subnetId);
    return plan(subnetId);
  }
  const subnets = found.subnetIds.map((id) => must(network.subnet(id), 'network.subnet(id)'));
  if (address !== undefined) {
    const around = subnets.find(({ cidr }) => contains(knownCidr(cidr), knownIp(address)));
    if (!around) throw invalid('Supplied network does not contain a subnet for VIP address specified.');
    return plan(around.id);
  }
  const chosen = subnets.find(({ ipVersion }) => ipVersion === 4) ?? subnets[0];
  if (!chosen) throw invalid('Supplied network does not contain a subnet.');
  return plan(chosen.id);
}

/**
 * Additional addresses are on the same port, so their subnets belong to the same network. Each needs a subnet of its
 * own.
 */
export function planAdditional({ core }: Octavia, plan: VipPlan, values: Values): AdditionalPlan[] {
  const given = (values['additional_vips'] as Values[] | null | undefined) ?? [];
  const seen = new Set([plan.subnetId]);
  return given.map((vip) => {
    const subnetId = vip['subnet_id'] as string;
    const subnet = core.services.network.subnet(subnetId);
    if (!subnet) throw noSuch('Subnet', subnetId);
    if (subnet.networkId !== plan.networkId) {
      throw invalid('All VIP subnets must belong to the same network.');
    }
    if (seen.has(subnetId)) throw invalid('Duplicate VIP subnet(s) specified. Only one IP can be bound per subnet.');
    seen.add(subnetId);
    return { subnetId, address: (vip['ip_address'] as string | null | undefined) ?? undefined };
  });
}

interface VipRequest {
  readonly id: string;
  readonly projectId: string;
  readonly provider: string;
  readonly plan: VipPlan;
  readonly additional: readonly AdditionalPlan[];
}

/** Creates the port of a load balancer, or uses the given one. */
export function makeVip({ core }: Octavia, { id, projectId, provider, plan, additional }: VipRequest): Vip {
  const { network } = core.services;
  // The group belongs to octavia's own project, so the owner of the load balancer sees only its id on the port.
  const group = network.createSecurityGroup({ projectId: '', name: `lb-${id}`, description: '' });
  const port =
    plan.port ?? makePort(network, { id, projectId, provider, plan, additional }, () => core.ids.requestId());
  return {
    vip_network_id: plan.networkId,
    vip_subnet_id: plan.subnetId,
    vip_port_id: port.id,
    vip_address:
      plan.address ??
      must(
        port.fixedIps.find(({ subnetId }) => subnetId === plan.subnetId),
        'value',
      ).address,
    owns_port: plan.port === undefined,
    security_group_id: group.id,
    additional_vips: additional.map(({ subnetId }) => ({
      subnet_id: subnetId,
      ip_address: port.fixedIps.find((fixed) => fixed.subnetId === subnetId)?.address ?? '',
    })),
  };
}

function makePort(
  network: NetworkService,
  { id, projectId, provider, plan: { networkId, subnetId, address }, additional }: VipRequest,
  requestId: () => string,
): PortView {
  try {
    return network.createPort({
      projectId,
      networkId,
      name: `octavia-lb-${id}`,
      deviceId: `lb-${id}`,
      deviceOwner: 'Octavia',
      adminStateUp: false,
      fixedIps: [{ subnetId, address }, ...additional].map((fixed) => ({
        subnetId: fixed.subnetId,
        ...(fixed.address !== undefined && { address: fixed.address }),
      })),
    });
  } catch (error) {
    // Octavia includes neutron's error in its own message.
    if (!(error instanceof Refusal)) throw error;
    const told = `${error.message}\nNeutron server returns request_ids: ['${requestId()}']`;
    throw new Refusal(500, `Provider '${provider}' reports error: ${told}`);
  }
}

/** Opens the ports of the listeners, and no others. */
export function openPorts({ core, listeners }: Octavia, lb: Readonly<LoadBalancerRow>): void {
  const { network } = core.services;
  network.setPortSecurityGroups(lb.vip_port_id, [lb.security_group_id]);
  const ethertype = knownIp(lb.vip_address).version === 4 ? 'IPv4' : 'IPv6';
  const rules = [...listeners.by('loadBalancer', lb.id)].flatMap((listener) => {
    const base = { protocol: transportOf(listener), port: listener.protocol_port, ethertype } as const;
    const cidrs = listener.allowed_cidrs ?? [];
    return cidrs.length === 0 ? [base] : cidrs.map((prefix) => ({ ...base, prefix }));
  });
  network.setIngressRules(lb.security_group_id, rules);
}

export function transportOf({ protocol }: Pick<ListenerRow, 'protocol'>): string {
  return protocol === 'UDP' || protocol === 'SCTP' ? protocol.toLowerCase() : 'tcp';
}

/** Deletes the port and the security group. A port of the user is kept, without groups. */
export function releaseVip({ core }: Octavia, lb: Readonly<LoadBalancerRow>): void {
  const { network } = core.services;
  if (lb.owns_port) network.deletePort(lb.vip_port_id);
  else network.setPortSecurityGroups(lb.vip_port_id, []);
  network.deleteSecurityGroup(lb.security_group_id);
}
