import type { Caller } from '../core/caller.ts';
import type {
  NetworkService,
  NetworkView,
  NewPort,
  PortView,
  SecurityRuleView,
  SubnetView,
} from '../core/contracts.ts';
import { formatCidr, knownCidr, parseCidr } from './addressing/cidr.ts';
import type { Neutron } from './neutron.ts';
import { reachability } from './reach.ts';
import { badBody, overQuota } from './refusals.ts';
import { ensureDefaultGroup, insertGroup, insertRule } from './resources/default-security-group.ts';
import { deletePort, insertPort } from './resources/port-writes.ts';
import { deleteGroup } from './resources/security-groups.ts';
import { canUse } from './resources/sharing.ts';
import { releaseTrunks } from './resources/trunks.ts';
import type { NetworkRow, PortRow, SecurityGroupRuleRow, SubnetRow } from './rows.ts';
import { sharingKey } from './tables.ts';

/** Network operations for nova and octavia. */
export function networkService(neutron: Neutron): NetworkService {
  const { networks, subnets, ports, securityGroups, securityGroupRules, sharings, core } = neutron;
  const portView = (port: Readonly<PortRow>): PortView => viewPort(neutron, port);
  return {
    reach: reachability(neutron),
    network: (id) => mapped(networks.get(id), (network) => viewNetwork(neutron, network)),
    networksFor(projectId) {
      const own = [...networks.by('project', projectId)];
      const found = own.length > 0 ? own : [...networks.by('open', 'yes')].filter(({ shared }) => shared);
      return found.map((network) => viewNetwork(neutron, network));
    },
    canUse: (network: NetworkView, caller: Caller) =>
      caller.isAdmin ||
      network.isShared ||
      network.projectId === caller.projectId ||
      sharings.count('grant', sharingKey(network.id, caller.projectId ?? '')) > 0,
    subnet: (id) => mapped(subnets.get(id), viewSubnet),
    externalSubnets: () =>
      [...networks.by('open', 'yes')]
        .filter((network) => network['router:external'])
        .flatMap(({ id }) => Array.from(subnets.by('network', id), viewSubnet)),
    port: (id) => mapped(ports.get(id), portView),
    portsOf: (deviceId) => Array.from(ports.by('device', deviceId), portView),
    createPort(desired: NewPort) {
      if (core.quotas.excess('network', desired.projectId, { port: 1 })) throw overQuota(['port']);
      return portView(insertPort(neutron, portSpec(desired)));
    },
    bindPort(id, { deviceId, deviceOwner, host, dnsName }) {
      const port = ports.get(id);
      if (!port) return;
      neutron.change(ports, port, {
        device_id: deviceId,
        device_owner: deviceOwner,
        'binding:host_id': host,
        ...(dnsName !== undefined && { dns_name: dnsName }),
      });
      setTrunkStatus(neutron, id, host === '' ? 'DOWN' : 'ACTIVE');
    },
    activatePort(id) {
      const port = ports.get(id);
      if (port && port.status !== 'ACTIVE') neutron.change(ports, port, { status: 'ACTIVE' });
    },
    unbindPort(id) {
      const port = ports.get(id);
      if (!port) return;
      neutron.change(ports, port, {
        device_id: '',
        device_owner: '',
        'binding:host_id': '',
        dns_name: '',
        status: 'DOWN',
      });
      setTrunkStatus(neutron, id, 'DOWN');
    },
    deletePort(id) {
      const port = ports.get(id);
      if (!port) return;
      releaseTrunks(neutron, id);
      deletePort(neutron, port);
    },
    securityGroup(projectId, nameOrId) {
      ensureDefaultGroup(neutron, projectId);
      const byId = securityGroups.get(nameOrId);
      if (byId && byId.tenant_id === projectId) return { id: byId.id, name: byId.name };
      const named = [...securityGroups.by('project', projectId)].filter(({ name }) => name === nameOrId);
      if (named.length > 1) return 'ambiguous';
      return mapped(named[0], ({ id, name }) => ({ id, name }));
    },
    createSecurityGroup({ projectId, name, description }) {
      return insertGroup(neutron, { projectId, name, description, isDefault: false, stateful: true });
    },
    setIngressRules(groupId, rules) {
      const group = securityGroups.get(groupId);
      if (!group) return;
      for (const rule of [...securityGroupRules.by('group', groupId)]) {
        if (rule.direction === 'ingress') securityGroupRules.delete(rule.id);
      }
      for (const { protocol, port, prefix, ethertype } of rules) {
        insertRule(neutron, group, {
          direction: 'ingress',
          ethertype,
          protocol,
          port_range_min: port,
          port_range_max: port,
          remote_ip_prefix: prefix === undefined ? null : formatCidr(knownCidr(prefix)),
        });
      }
    },
    setPortSecurityGroups(portId, groupIds) {
      const port = ports.get(portId);
      if (port) neutron.change(ports, port, { security_groups: [...groupIds] });
    },
    canUseQosPolicy(id, caller) {
      const policy = neutron.qosPolicies.get(id);
      return policy !== undefined && canUse(neutron, policy, caller);
    },
    setPortQosPolicy(portId, policyId) {
      const port = ports.get(portId);
      if (port) neutron.change(ports, port, { qos_policy_id: policyId });
    },
    securityGroups(projectId) {
      core.state.transact(() => void ensureDefaultGroup(neutron, projectId));
      return Array.from(securityGroups.by('project', projectId), ({ id, name, description, tenant_id }) => ({
        id,
        name,
        description: description ?? '',
        projectId: tenant_id,
        rules: Array.from(securityGroupRules.by('group', id), (rule) => viewRule(neutron, rule)),
      }));
    },
    changeSecurityGroup(id, changes) {
      const group = securityGroups.get(id);
      if (group) neutron.change(securityGroups, group, { ...changes });
    },
    isSecurityGroupUsed: (id) => ports.count('group', id) > 0 || securityGroups.get(id)?.is_default === true,
    addIngressRule(groupId, { protocol, from, to, cidr, remoteGroupId }) {
      const prefix = cidr === undefined ? undefined : parseCidr(cidr);
      if (cidr !== undefined && !prefix) throw badBody(`Invalid cidr ${cidr}`);
      const content = {
        direction: 'ingress',
        ethertype: prefix?.version === 6 ? 'IPv6' : 'IPv4',
        protocol,
        port_range_min: from === undefined || from < 0 ? null : from,
        port_range_max: to === undefined || to < 0 ? null : to,
        remote_ip_prefix: prefix === undefined ? null : formatCidr(prefix),
        ...(remoteGroupId !== undefined && { remote_group_id: remoteGroupId }),
      } as const;
      for (const other of securityGroupRules.by('group', groupId)) {
        const isSame = Object.entries(content).every(([key, value]) => other[key as keyof typeof other] === value);
        if (isSame) return undefined;
      }
      return viewRule(neutron, insertRule(neutron, securityGroups.known(groupId), content));
    },
    deleteSecurityGroupRule: (id) => void securityGroupRules.delete(id),
    deleteSecurityGroup: (id) => deleteGroup(neutron, id),
    portsLeft(projectId) {
      const limit = core.quotas.limit('network', projectId, 'port');
      return limit < 0 ? undefined : Math.max(0, limit - core.quotas.used('network', projectId, 'port'));
    },
  };
}

function mapped<A, B>(value: A | undefined, map: (value: A) => B): B | undefined {
  return value === undefined ? undefined : map(value);
}

function portSpec(desired: NewPort): Parameters<typeof insertPort>[1] {
  return {
    projectId: desired.projectId,
    networkId: desired.networkId,
    ...(desired.name !== undefined && { name: desired.name }),
    ...(desired.deviceId !== undefined && { deviceId: desired.deviceId }),
    ...(desired.deviceOwner !== undefined && { deviceOwner: desired.deviceOwner }),
    ...(desired.bindingHost !== undefined && { host: desired.bindingHost }),
    ...(desired.dnsName !== undefined && { rest: { dns_name: desired.dnsName } }),
    ...(desired.adminStateUp !== undefined && { adminStateUp: desired.adminStateUp }),
    fixedIps: desired.fixedIps?.map(({ subnetId, address }) => ({
      ...(subnetId !== undefined && { subnet_id: subnetId }),
      ...(address !== undefined && { ip_address: address }),
    })),
    securityGroups: desired.securityGroupIds,
    portSecurityEnabled: desired.portSecurityEnabled,
    allowedAddressPairs: desired.allowedAddressPairs?.map((ip_address) => ({ ip_address })),
  };
}

function viewPort({ networks, securityGroups, floatingIps }: Neutron, port: Readonly<PortRow>): PortView {
  return {
    id: port.id,
    name: port.name,
    projectId: port.tenant_id,
    networkId: port.network_id,
    networkName: networks.get(port.network_id)?.name ?? '',
    macAddress: port.mac_address,
    fixedIps: port.fixed_ips.map(({ subnet_id, ip_address }) => ({ subnetId: subnet_id, address: ip_address })),
    status: port.status,
    deviceId: port.device_id,
    deviceOwner: port.device_owner,
    securityGroupIds: port.security_groups,
    securityGroupNames: port.security_groups.map((id) => securityGroups.get(id)?.name ?? id),
    floatingIps: Array.from(floatingIps.by('port', port.id), ({ floating_ip_address, fixed_ip_address }) => ({
      address: floating_ip_address,
      fixedAddress: fixed_ip_address ?? '',
    })),
    bindingHost: port['binding:host_id'],
  };
}

function viewRule({ securityGroups }: Neutron, rule: Readonly<SecurityGroupRuleRow>): SecurityRuleView {
  const remote = rule.remote_group_id === null ? undefined : securityGroups.get(rule.remote_group_id);
  return {
    id: rule.id,
    isIngress: rule.direction === 'ingress',
    isIpv6: rule.ethertype === 'IPv6',
    protocol: rule.protocol,
    from: rule.port_range_min ?? undefined,
    to: rule.port_range_max ?? undefined,
    cidr: rule.remote_ip_prefix ?? undefined,
    remoteGroupName: remote?.name,
  };
}

function viewNetwork({ subnets }: Neutron, network: Readonly<NetworkRow>): NetworkView {
  return {
    id: network.id,
    name: network.name,
    projectId: network.tenant_id,
    isShared: network.shared,
    isExternal: network['router:external'],
    portSecurityEnabled: network.port_security_enabled,
    subnetIds: Array.from(subnets.by('network', network.id), ({ id }) => id),
  };
}

function viewSubnet(subnet: Readonly<SubnetRow>): SubnetView {
  return {
    id: subnet.id,
    name: subnet.name,
    networkId: subnet.network_id,
    ipVersion: subnet.ip_version,
    cidr: subnet.cidr,
  };
}

/** A trunk is ACTIVE while its parent port is bound. */
function setTrunkStatus(neutron: Neutron, parentId: string, status: string): void {
  const trunk = neutron.trunks.first('parent', parentId);
  if (trunk && trunk.status !== status) neutron.change(neutron.trunks, trunk, { status });
}
