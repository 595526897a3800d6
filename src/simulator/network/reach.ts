import type { Landing, Origin, Reachability } from '../core/contracts.ts';
import { contains, knownCidr } from './addressing/cidr.ts';
import { knownIp, parseIp } from './addressing/ip.ts';
import type { Neutron } from './neutron.ts';
import { gatewayPort } from './resources/router-gateway.ts';
import type { PortRow, RouterRow, SecurityGroupRuleRow, SubnetRow } from './rows.ts';
import { addressKey } from './tables.ts';

const interfaceOwner = 'network:router_interface';
const tcpNames: ReadonlySet<string | null> = new Set([null, 'tcp', '6', 'ip', 'any', '0']);

/** Resolves paths: networks, routers, floating IPs and security group rules. */
export function reachability(neutron: Neutron): Reachability {
  const { networks, subnets, ports, routers, floatingIps, securityGroupRules, trunks } = neutron;

  const isUp = (port: Readonly<PortRow>): boolean =>
    port.admin_state_up && networks.get(port.network_id)?.admin_state_up === true;

  /** Finds the port at an address of a subnet. Another machine may use the address of a port without a server. */
  const landingIn = (subnetId: string, address: string): Landing | undefined => {
    const port = ports.first('address', addressKey(subnetId, address));
    if (!port) return undefined;
    const holders = port.device_id === '' ? holdersOf(port, address) : [];
    return { portId: port.id, address, ...(holders.length > 0 && { holders }) };
  };
  /**
   * Virtual addresses: a port reserves the address, and machines with a matching allowed address pair take it over in
   * turn.
   */
  const holdersOf = (reserving: Readonly<PortRow>, address: string): string[] => {
    const ip = knownIp(address);
    const holders: string[] = [];
    for (const port of ports.by('network', reserving.network_id)) {
      if (port.allowed_address_pairs.length === 0 || port.device_id === '') continue;
      if (port.allowed_address_pairs.some(({ ip_address }) => contains(knownCidr(ip_address), ip))) {
        holders.push(port.id);
      }
    }
    return holders;
  };
  const landingInNetwork = (networkId: string, address: string): Landing | undefined => {
    for (const { id } of subnets.by('network', networkId)) {
      const landing = landingIn(id, address);
      if (landing) return landing;
    }
    return undefined;
  };
  const fromOutside = (address: string): Landing | undefined => {
    for (const floating of floatingIps.by('address', address)) {
      if (floating.port_id === null || floating.status !== 'ACTIVE') continue;
      if (routers.get(floating.router_id ?? '')?.admin_state_up !== true) continue;
      const inner = ports.get(floating.port_id);
      const fixed = inner?.fixed_ips.find(({ ip_address }) => ip_address === floating.fixed_ip_address);
      return fixed && landingIn(fixed.subnet_id, fixed.ip_address);
    }
    for (const network of networks.by('open', 'yes')) {
      if (!network['router:external']) continue;
      const landing = landingInNetwork(network.id, address);
      // The port that reserves a floating IP is not itself reachable.
      if (landing && ports.get(landing.portId)?.device_owner !== 'network:floatingip') return landing;
    }
    return undefined;
  };
  /** Returns the default router of a subnet. */
  const routerOf = (subnet: Readonly<SubnetRow>): Readonly<RouterRow> | undefined => {
    if (subnet.gateway_ip === null) return undefined;
    const inner = ports.first('address', addressKey(subnet.id, subnet.gateway_ip));
    if (inner?.device_owner !== interfaceOwner) return undefined;
    const router = routers.get(inner.device_id);
    return router?.admin_state_up ? router : undefined;
  };
  const behindRouter = (router: Readonly<RouterRow>, address: string): Landing | undefined => {
    for (const inner of ports.by('device', router.id)) {
      if (inner.device_owner !== interfaceOwner) continue;
      for (const { subnet_id } of inner.fixed_ips) {
        const landing = landingIn(subnet_id, address);
        if (landing) return landing;
      }
    }
    return undefined;
  };
  /** Returns the source address of a port outside: its floating IP, else the address of its router. */
  const outsideFace = (port: Readonly<PortRow>, router: Readonly<RouterRow>): Origin | undefined => {
    const gateway = gatewayPort(neutron, router);
    if (!gateway) return undefined;
    for (const { floating_ip_address, status } of floatingIps.by('port', port.id)) {
      if (status === 'ACTIVE') return { address: floating_ip_address };
    }
    const own = gateway.fixed_ips[0]?.ip_address;
    return router.enable_snat && own !== undefined ? { address: own } : undefined;
  };
  const directly = (port: Readonly<PortRow>, address: string): Origin => {
    const isIpv6 = address.includes(':');
    const own = port.fixed_ips.find(({ ip_address }) => ip_address.includes(':') === isIpv6);
    return { address: own?.ip_address ?? '', portId: port.id };
  };
  const fromPort: Reachability['fromPort'] = (portId, address) => {
    const port = ports.get(portId);
    if (!port || !isUp(port)) return undefined;
    const near = landingInNetwork(port.network_id, address);
    if (near && ports.get(near.portId)?.device_owner !== 'network:floatingip') {
      return { landing: near, origin: directly(port, address) };
    }
    for (const { subnet_id } of port.fixed_ips) {
      const router = routerOf(subnets.known(subnet_id));
      if (!router) continue;
      const landing = behindRouter(router, address);
      if (landing) return { landing, origin: directly(port, address) };
      const face = outsideFace(port, router);
      const outside = face && fromOutside(address);
      if (outside) return { landing: outside, origin: face };
    }
    if (!networks.get(port.network_id)?.['router:external']) return undefined;
    const outside = fromOutside(address);
    return outside && { landing: outside, origin: directly(port, address) };
  };

  const leadsOut = (portId: string): boolean => {
    const port = ports.get(portId);
    if (!port || !isUp(port)) return false;
    if (networks.get(port.network_id)?.['router:external']) return true;
    return port.fixed_ips.some(({ subnet_id }) => {
      const router = routerOf(subnets.known(subnet_id));
      return router !== undefined && outsideFace(port, router) !== undefined;
    });
  };

  const rulesLet = (
    direction: 'ingress' | 'egress',
    port: Readonly<PortRow>,
    tcpPort: number,
    farEnd: Origin,
  ): boolean => {
    if (!port.port_security_enabled) return true;
    const ip = parseIp(farEnd.address);
    const farGroups = farEnd.portId === undefined ? undefined : ports.get(farEnd.portId)?.security_groups;
    const matches = (rule: Readonly<SecurityGroupRuleRow>): boolean => {
      if (rule.direction !== direction || !tcpNames.has(rule.protocol)) return false;
      if (ip && rule.ethertype !== (ip.version === 4 ? 'IPv4' : 'IPv6')) return false;
      // A rule without a protocol has no port range either.
      if (rule.port_range_min !== null && tcpPort < rule.port_range_min) return false;
      if (rule.port_range_max !== null && tcpPort > rule.port_range_max) return false;
      if (rule.remote_group_id !== null) return farGroups?.includes(rule.remote_group_id) ?? false;
      if (rule.remote_ip_prefix === null) return true;
      return ip !== undefined && contains(knownCidr(rule.remote_ip_prefix), ip);
    };
    for (const groupId of port.security_groups) {
      for (const rule of securityGroupRules.by('group', groupId)) if (matches(rule)) return true;
    }
    return false;
  };

  return {
    fromOutside,
    fromPort,
    leadsOut,
    inSubnet: landingIn,
    serverOf(portId) {
      const port = ports.get(portId);
      if (!port || !isUp(port)) return undefined;
      const trunk = port.device_owner.startsWith('trunk:') ? trunks.first('child', portId) : undefined;
      const carrier = trunk ? ports.get(trunk.port_id) : port;
      if (!carrier?.device_owner.startsWith('compute:') || carrier.status !== 'ACTIVE') return undefined;
      return carrier.device_id;
    },
    admits(portId, tcpPort, origin) {
      const port = ports.get(portId);
      return port !== undefined && rulesLet('ingress', port, tcpPort, origin);
    },
    letsOut(portId, tcpPort, to) {
      const port = ports.get(portId);
      return port !== undefined && rulesLet('egress', port, tcpPort, to);
    },
    outsideAddresses(portId) {
      const port = ports.get(portId);
      if (!port) return [];
      const found = Array.from(floatingIps.by('port', portId), ({ floating_ip_address }) => floating_ip_address);
      if (networks.get(port.network_id)?.['router:external'] && port.device_owner !== 'network:floatingip') {
        for (const { ip_address } of port.fixed_ips) found.push(ip_address);
      }
      // A machine may use the address of a port without a server, and that port may have a floating IP.
      for (const { ip_address } of port.allowed_address_pairs) {
        if (ip_address.includes('/')) continue;
        for (const { id } of subnets.by('network', port.network_id)) {
          const reserving = ports.first('address', addressKey(id, ip_address));
          if (!reserving || reserving.id === portId) continue;
          for (const { floating_ip_address } of floatingIps.by('port', reserving.id)) found.push(floating_ip_address);
        }
      }
      return found;
    },
    portsOfGroup: (groupId) => Array.from(ports.by('group', groupId), ({ id }) => id),
    portsBehindRouter: (routerId) =>
      Array.from(floatingIps.by('router', routerId), ({ port_id }) => port_id).filter((id) => id !== null),
  };
}
