import type { FloatingIp } from '../network/floating-ips.ts';
import type { NetworkService } from '../network/network.ts';
import type { Network } from '../network/networks.ts';
import type { FixedIp, Port, PortSpec } from '../network/ports/types.ts';
import type { GatewaySpec, Router, RouterGateway } from '../network/routers.ts';
import type { SecurityGroupRule, SecurityGroupRuleSpec } from '../network/security-group-rules.ts';
import type { SecurityGroup } from '../network/security-groups.ts';
import type { Subnet } from '../network/subnets.ts';
import type { Trunk } from '../network/trunks.ts';
import { collect } from '../resource/pages.ts';
import { createRecorder } from './recorder.ts';
import type { Rehearsal } from './rehearsal.ts';
import { createTable, readFrom, rehearsedPart, type Table } from './table.ts';

export interface NetworkTables {
  readonly networks: Table<Network>;
  readonly subnets: Table<Subnet>;
  readonly routers: Table<Router>;
  readonly ports: Table<Port>;
  readonly securityGroups: Table<SecurityGroup>;
  readonly floatingIps: Table<FloatingIp>;
  readonly trunks: Table<Trunk>;
}

const service = 'network';
const interfaceOwner = 'network:router_interface';

export function networkTables({ network }: { network: NetworkService }, projectId: string): NetworkTables {
  const table = <T extends { readonly id: string }>(kind: string, list: () => AsyncGenerator<T>): Table<T> =>
    createTable({ service, kind, load: () => collect(list()) });
  return {
    // Networks of other projects may be shared, and so may their subnets.
    networks: table('network', () => network.networks.list()),
    subnets: table('subnet', () => network.subnets.list()),
    routers: table('router', () => network.routers.list()),
    ports: table('port', () => network.ports.list({ projectId })),
    securityGroups: table('security group', () => network.securityGroups.list()),
    floatingIps: table('floating IP', () => network.floatingIps.list({ projectId })),
    trunks: table('trunk', () => network.trunks.list({ projectId })),
  };
}

/** Common fields of new neutron resources. */
const common = ({ projectId, now }: Pick<Rehearsal, 'projectId' | 'now'>, description: string | undefined) => ({
  description: description ?? '',
  projectId,
  tags: [],
  createdAt: now(),
  updatedAt: now(),
  revision: 1,
});

export function rehearsedNetwork(real: NetworkService, tables: NetworkTables, rehearsal: Rehearsal): NetworkService {
  const { newId, newAddress, journal } = rehearsal;
  const { networks, subnets, routers, ports, securityGroups, floatingIps, trunks } = tables;

  const { made, changed, deleted, tagging } = createRecorder(rehearsal);

  const gatewayOf = (gateway: GatewaySpec | null | undefined): RouterGateway | undefined =>
    gateway
      ? {
          networkId: gateway.networkId,
          enableSnat: gateway.enableSnat,
          fixedIps: (gateway.fixedIps ?? [{}]).map(({ subnetId, address }) => ({
            subnetId,
            address: address ?? newAddress(),
          })),
        }
      : undefined;

  const fixedIpsOf = async ({ networkId, fixedIps }: PortSpec): Promise<FixedIp[]> => {
    const own = (await subnets.all()).filter((subnet) => subnet.networkId === networkId);
    const wanted = fixedIps ?? own.slice(0, 1).map(({ id }) => ({ subnetId: id, address: undefined }));
    return wanted.map(({ subnetId, address }) => ({
      subnetId: subnetId ?? own[0]?.id ?? '',
      address: address ?? newAddress(),
    }));
  };

  const newPort = async (desired: PortSpec, more: Partial<Port> = {}): Promise<Port> => ({
    id: newId('port'),
    name: desired.name ?? '',
    ...common(rehearsal, desired.description),
    networkId: desired.networkId,
    status: 'DOWN',
    adminStateUp: desired.adminStateUp ?? true,
    macAddress: desired.macAddress ?? 'fa:16:3e:00:00:00',
    fixedIps: await fixedIpsOf(desired),
    deviceId: desired.deviceId ?? '',
    deviceOwner: desired.deviceOwner ?? '',
    securityGroupIds: desired.securityGroupIds ?? [],
    allowedAddressPairs: desired.allowedAddressPairs ?? [],
    portSecurityEnabled: desired.portSecurityEnabled ?? true,
    vnicType: desired.vnicType,
    hostId: desired.hostId,
    profile: desired.profile ?? {},
    dnsName: desired.dnsName ?? '',
    trunkId: undefined,
    ...more,
  });

  const ruleOf = (desired: SecurityGroupRuleSpec): SecurityGroupRule => ({
    id: newId('security-group-rule'),
    securityGroupId: desired.securityGroupId,
    direction: desired.direction,
    ethertype: desired.ethertype ?? 'IPv4',
    protocol: desired.protocol,
    portRangeMin: desired.portRangeMin,
    portRangeMax: desired.portRangeMax,
    remoteIpPrefix: desired.remoteIpPrefix,
    remoteGroupId: desired.remoteGroupId,
    description: desired.description ?? '',
  });

  const createRules = async (specs: readonly SecurityGroupRuleSpec[]): Promise<SecurityGroupRule[]> => {
    const rules = specs.map(ruleOf);
    for (const rule of rules) {
      const group = await securityGroups.get(rule.securityGroupId);
      securityGroups.put({ ...group, rules: [...group.rules, rule] });
      journal.note({ action: 'create', type: 'securityGroupRule', thing: rule, fields: [] });
    }
    return rules;
  };

  const createPorts = async (specs: readonly PortSpec[]): Promise<Port[]> => {
    const all: Port[] = [];
    for (const desired of specs) all.push(made('port', ports, await newPort(desired)));
    return all;
  };

  return rehearsedPart(real, {
    networks: rehearsedPart(real.networks, {
      ...readFrom({ service, kind: 'networks' }, networks),
      ...tagging('network', networks),
      async create(desired) {
        return made('network', networks, {
          id: newId('network'),
          name: desired.name,
          ...common(rehearsal, desired.description),
          status: 'ACTIVE',
          adminStateUp: desired.adminStateUp ?? true,
          mtu: desired.mtu,
          shared: false,
          external: false,
          portSecurityEnabled: desired.portSecurityEnabled ?? true,
          subnetIds: [],
          dnsDomain: '',
        });
      },
      delete: (id) => deleted('network', networks, id),
    }),
    subnets: rehearsedPart(real.subnets, {
      ...readFrom({ service, kind: 'subnets' }, subnets),
      ...tagging('subnet', subnets),
      async create(desired) {
        const subnet = made('subnet', subnets, {
          id: newId('subnet'),
          name: desired.name ?? '',
          ...common(rehearsal, desired.description),
          networkId: desired.networkId,
          cidr: desired.cidr,
          ipVersion: desired.ipVersion,
          gatewayIp: desired.gatewayIp ?? undefined,
          enableDhcp: desired.enableDhcp ?? true,
          allocationPools: desired.allocationPools ?? [],
          dnsNameservers: desired.dnsNameservers ?? [],
          hostRoutes: desired.hostRoutes ?? [],
          ipv6AddressMode: desired.ipv6AddressMode,
          ipv6RaMode: desired.ipv6RaMode,
        });
        const network = await networks.get(desired.networkId);
        networks.put({ ...network, subnetIds: [...network.subnetIds, subnet.id] });
        return subnet;
      },
      update: (id, { dnsNameservers }) =>
        changed('subnet', subnets, id, (before) => ({ ...before, ...(dnsNameservers && { dnsNameservers }) })),
      delete: (id) => deleted('subnet', subnets, id),
    }),
    routers: rehearsedPart(real.routers, {
      ...readFrom({ service, kind: 'routers' }, routers),
      ...tagging('router', routers),
      async create(desired) {
        return made('router', routers, {
          id: newId('router'),
          name: desired.name,
          ...common(rehearsal, desired.description),
          status: 'ACTIVE',
          adminStateUp: true,
          gateway: gatewayOf(desired.gateway),
          routes: [],
        });
      },
      update: (id, { gateway }) =>
        rehearsal.isNew(id)
          ? // created by two calls, but a single resource
            routers.get(id).then((router) => {
              const whole = { ...router, gateway: gatewayOf(gateway) };
              routers.put(whole);
              return whole;
            })
          : changed('router', routers, id, (before) => ({ ...before, gateway: gatewayOf(gateway) })),
      async addInterface(id, target) {
        const router = await routers.get(id);
        const subnet = await subnets.get('subnetId' in target ? target.subnetId : '');
        const desired = { networkId: subnet.networkId, fixedIps: [{ subnetId: subnet.id }] };
        const port = await newPort(desired, { name: router.name, deviceId: id, deviceOwner: interfaceOwner });
        made('routerInterface', ports, port);
        return { portId: port.id, subnetId: subnet.id, networkId: subnet.networkId };
      },
      async removeInterface(id, target) {
        const subnetId = 'subnetId' in target ? target.subnetId : undefined;
        for (const port of await ports.all()) {
          const isMeant = port.deviceId === id && port.fixedIps.some((ip) => ip.subnetId === subnetId);
          if (isMeant) await deleted('routerInterface', ports, port.id);
        }
      },
      delete: (id) => deleted('router', routers, id),
    }),
    ports: rehearsedPart(real.ports, {
      ...readFrom({ service, kind: 'ports' }, ports),
      ...tagging('port', ports),
      async create(desired) {
        return made('port', ports, await newPort(desired));
      },
      createMany: createPorts,
      update: (id, { allowedAddressPairs }) =>
        changed('port', ports, id, (before) => ({ ...before, ...(allowedAddressPairs && { allowedAddressPairs }) })),
      async delete(id) {
        const isThere = await deleted('port', ports, id);
        // A floating IP associated with the deleted port stays reserved.
        if (isThere && floatingIps.isRead) {
          for (const address of await floatingIps.all()) {
            if (address.portId === id) floatingIps.put({ ...address, portId: undefined, fixedAddress: undefined });
          }
        }
        return isThere;
      },
    }),
    trunks: rehearsedPart(real.trunks, {
      ...readFrom({ service, kind: 'trunks' }, trunks),
      ...tagging('trunk', trunks),
      async create(desired) {
        return made('trunk', trunks, {
          id: newId('trunk'),
          name: desired.name ?? '',
          ...common(rehearsal, desired.description),
          portId: desired.portId,
          status: 'ACTIVE',
          adminStateUp: true,
          subports: desired.subports ?? [],
        });
      },
      removeSubports: (id, portIds) =>
        changed('trunk', trunks, id, (before) => ({
          ...before,
          subports: before.subports.filter(({ portId }) => !portIds.includes(portId)),
        })),
      delete: (id) => deleted('trunk', trunks, id),
    }),
    securityGroups: rehearsedPart(real.securityGroups, {
      ...readFrom({ service, kind: 'security_groups' }, securityGroups),
      ...tagging('securityGroup', securityGroups),
      async create(desired) {
        const id = newId('security-group');
        // neutron creates a new group with rules that allow all egress.
        const rules = (['IPv4', 'IPv6'] as const).map((ethertype) =>
          ruleOf({ securityGroupId: id, direction: 'egress', ethertype }),
        );
        const group = { id, name: desired.name, ...common(rehearsal, desired.description), rules };
        return made('securityGroup', securityGroups, group);
      },
      delete: (id) => deleted('securityGroup', securityGroups, id),
    }),
    securityGroupRules: rehearsedPart(real.securityGroupRules, {
      createMany: createRules,
      async delete(id) {
        for (const group of await securityGroups.all()) {
          const thing = group.rules.find((rule) => rule.id === id);
          if (!thing) continue;
          securityGroups.put({ ...group, rules: group.rules.filter((rule) => rule !== thing) });
          journal.note({ action: 'delete', type: 'securityGroupRule', thing, fields: [] });
          return true;
        }
        return false;
      },
    }),
    floatingIps: rehearsedPart(real.floatingIps, {
      ...tagging('floatingIp', floatingIps),
      get: (id) => floatingIps.get(id),
      async *list(filter) {
        yield* readFrom({ service, kind: 'floatingips' }, withoutNames(floatingIps)).list(filter);
      },
      async find(address) {
        return (await floatingIps.all()).find((one) => one.address === address);
      },
      async create(desired) {
        return made('floatingIp', floatingIps, {
          id: newId('floating-ip'),
          ...common(rehearsal, desired.description),
          address: desired.address ?? newAddress(),
          networkId: desired.networkId,
          status: 'DOWN',
          portId: desired.portId,
          fixedAddress: desired.fixedAddress,
          routerId: undefined,
        });
      },
      async update(id, { portId, fixedAddress }) {
        const move = (before: FloatingIp): FloatingIp => ({ ...before, portId: portId ?? undefined, fixedAddress });
        if (!rehearsal.isNew(id)) return changed('floatingIp', floatingIps, id, move);
        // The association of a new floating IP is part of its creation.
        const address = move(await floatingIps.get(id));
        floatingIps.put(address);
        return address;
      },
      delete: (id) => deleted('floatingIp', floatingIps, id),
    }),
  });
}

/** Floating IPs have no names. */
const withoutNames = (
  table: Table<FloatingIp>,
): Pick<Table<FloatingIp & { name: string }>, 'all' | 'get' | 'named'> => ({
  all: async () => (await table.all()).map((address) => ({ ...address, name: '' })),
  named: async (name) => (await table.named(name)).map((address) => ({ ...address, name: '' })),
  get: async (id) => ({ ...(await table.get(id)), name: '' }),
});
