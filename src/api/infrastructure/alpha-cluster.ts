import { isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import { asIs, chain, each, field, fields, type Mapping } from '../kind/mapping.ts';
import { flag } from '../kind/values.ts';
import { alphaMachine, identityMappings } from './alpha-machine.ts';
import type { Alpha } from './alpha-schema.ts';
import { flatFilter, isText, numberOrAbsent, textOrAbsent, uuidOrFilter } from './alpha-values.ts';
import { openStackClusterV1beta1 } from './v1beta1.ts';

/**
 * Until v1alpha7, managed security groups allow Calico traffic; later versions open only the configured ports.
 * Converted clusters keep these rules, with upstream's names.
 */
const calicoRules: readonly JsonObject[] = [
  { name: 'BGP (calico)', protocol: 'tcp', portRangeMin: 179, portRangeMax: 179 },
  { name: 'IP-in-IP (calico)', protocol: '4' },
].map((rule) => ({
  ...rule,
  description: `Created by cluster-api-provider-openstack API conversion - ${rule.name}`,
  direction: 'ingress',
  etherType: 'IPv4',
  remoteManagedGroups: ['controlplane', 'worker'],
}));

const securityGroups: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { managedSecurityGroups, allowAllInClusterTraffic, ...rest } = value;
    if (managedSecurityGroups !== true) return rest;
    const groups: JsonObject =
      allowAllInClusterTraffic === true
        ? { allowAllInClusterTraffic: true }
        : { clusterNodesSecurityGroupRules: [...calicoRules] };
    return { ...rest, managedSecurityGroups: groups };
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    const { managedSecurityGroups, ...rest } = value;
    if (!isJsonObject(managedSecurityGroups)) return rest;
    return {
      ...rest,
      managedSecurityGroups: true,
      ...(managedSecurityGroups['allowAllInClusterTraffic'] === true ? { allowAllInClusterTraffic: true } : {}),
    };
  },
};

/** Name servers only apply to a managed subnet. */
const subnets: Mapping = {
  up(value, context) {
    if (!isJsonObject(value)) return undefined;
    const { nodeCidr, dnsNameservers, subnet, ...rest } = value;
    const result: JsonObject = rest;
    if (isText(nodeCidr)) {
      result['managedSubnets'] = [{ cidr: nodeCidr, ...(dnsNameservers === undefined ? {} : { dnsNameservers }) }];
    }
    const existing = subnet === undefined ? undefined : flatFilter.up(subnet, context);
    if (existing !== undefined) result['subnets'] = [existing];
    return result;
  },
  down(value, context) {
    if (!isJsonObject(value)) return undefined;
    const { managedSubnets, subnets: existing, ...rest } = value;
    const result: JsonObject = rest;
    const made = Array.isArray(managedSubnets) ? managedSubnets[0] : undefined;
    if (isJsonObject(made)) {
      result['nodeCidr'] = made['cidr'];
      if (made['dnsNameservers'] !== undefined) result['dnsNameservers'] = made['dnsNameservers'];
    }
    const first = Array.isArray(existing) ? existing[0] : undefined;
    if (first !== undefined) result['subnet'] = flatFilter.down(first, context);
    return result;
  },
};

/** v1alpha3 and v1alpha4 configure the load balancer with separate fields. */
const looseLoadBalancer: Mapping = {
  up(value) {
    if (!isJsonObject(value)) return undefined;
    const { managedAPIServerLoadBalancer, apiServerLoadBalancerAdditionalPorts: additionalPorts, ...rest } = value;
    if (managedAPIServerLoadBalancer !== true) return rest;
    return {
      ...rest,
      apiServerLoadBalancer: { enabled: true, ...(additionalPorts === undefined ? {} : { additionalPorts }) },
    };
  },
  down(value) {
    if (!isJsonObject(value)) return undefined;
    const { apiServerLoadBalancer, ...rest } = value;
    if (!isJsonObject(apiServerLoadBalancer) || apiServerLoadBalancer['enabled'] === false) return rest;
    const { additionalPorts } = apiServerLoadBalancer;
    return {
      ...rest,
      managedAPIServerLoadBalancer: true,
      ...(additionalPorts === undefined ? {} : { apiServerLoadBalancerAdditionalPorts: additionalPorts }),
    };
  },
};

/**
 * In the alpha versions an absent object means disabled, and in the hub a present object means enabled. So `enabled` is
 * always written.
 */
function loadBalancer(alpha: Alpha): Mapping {
  const renamed = fields(field('allowedCidrs', 'allowedCIDRs'), field('provider', 'provider', textOrAbsent));
  return {
    up(value, context) {
      const up = renamed.up(value, context);
      if (!isJsonObject(up)) return undefined;
      const { enabled, ...rest } = up;
      const empty = Object.values(rest).every((member) => Array.isArray(member) && member.length === 0);
      if (enabled !== true && (alpha === 5 || empty)) return undefined;
      return { enabled: enabled === true, ...rest };
    },
    down(value, context) {
      const down = renamed.down(value, context);
      if (!isJsonObject(down)) return undefined;
      return down['enabled'] === false && alpha === 5 ? undefined : { ...down, enabled: down['enabled'] !== false };
    },
  };
}

const bastionInstanceFields = ['flavor', 'image', 'sshKeyName', 'networks', 'securityGroups'] as const;

/**
 * A bastion is disabled by default in the alpha versions and enabled by default in the hub. So `enabled` is always
 * written.
 */
function bastion(alpha: Alpha): Mapping {
  const machine = alphaMachine(alpha);
  return {
    up(value, context) {
      if (!isJsonObject(value)) return undefined;
      const { enabled, instance, availabilityZone, ...flat } = value;
      const written: JsonObject = isJsonObject(instance) ? { ...instance } : {};
      for (const name of bastionInstanceFields) if (flat[name] !== undefined) written[name] ??= flat[name];
      const { floatingIP: inner, ...server } = written;
      const floatingIP = isText(flat['floatingIP']) ? flat['floatingIP'] : inner;
      const spec = machine.up(server, context);
      return {
        enabled: enabled === true,
        ...(isText(availabilityZone) ? { availabilityZone } : {}),
        ...(isText(floatingIP) ? { floatingIP } : {}),
        ...(isJsonObject(spec) && Object.keys(spec).length > 0 ? { spec } : {}),
      };
    },
    down(value, context) {
      if (!isJsonObject(value)) return undefined;
      const { enabled, availabilityZone, floatingIP, spec } = value;
      const server = spec === undefined ? undefined : machine.down(spec, context);
      const instance = { ...(isJsonObject(server) ? server : {}), ...(floatingIP === undefined ? {} : { floatingIP }) };
      return {
        enabled: enabled !== false,
        ...(availabilityZone === undefined ? {} : { availabilityZone }),
        ...(Object.keys(instance).length > 0 ? { instance } : {}),
      };
    },
  };
}

/**
 * Everything except the bastion goes through the field names of v1beta1. The machine of the bastion has its own mapping
 * to the hub.
 */
function clusterSpec(alpha: Alpha): Mapping {
  const routerSubnet = field('subnet', 'subnet', alpha === 7 ? flatFilter : uuidOrFilter);
  return chain(
    subnets,
    ...(alpha <= 4 ? [looseLoadBalancer] : []),
    fields(
      ...identityMappings(alpha),
      field('network', 'network', flatFilter),
      ...(alpha === 7
        ? [field('router', 'router', flatFilter), field('networkMtu', 'networkMTU', numberOrAbsent)]
        : []),
      field('externalNetworkId', 'externalNetwork.id', textOrAbsent),
      field(
        'externalRouterIPs',
        'externalRouterIPs',
        each(fields(routerSubnet, field('fixedIP', 'fixedIP', textOrAbsent))),
      ),
      field('disablePortSecurity', 'disablePortSecurity', flag),
      field('disableAPIServerFloatingIP', 'disableAPIServerFloatingIP', flag),
      field('apiServerFixedIP', 'apiServerFixedIP', textOrAbsent),
      ...(alpha === 3
        ? [
            field('apiServerLoadBalancerFloatingIP', 'apiServerFloatingIP', upOnly(textOrAbsent)),
            field('apiServerLoadBalancerPort', 'apiServerPort', upOnly(numberOrAbsent)),
          ]
        : []),
      field('apiServerFloatingIP', 'apiServerFloatingIP', textOrAbsent),
      field('apiServerPort', 'apiServerPort', numberOrAbsent),
      ...(alpha >= 5 ? [field('apiServerLoadBalancer', 'apiServerLoadBalancer', loadBalancer(alpha))] : []),
    ),
  );
}

/** An older name that is read, but not written. */
function upOnly(mapping: Mapping): Mapping {
  return { up: mapping.up, down: () => undefined };
}

function clusterStatus(alpha: Alpha): Mapping {
  if (alpha === 7) return asIs;
  const onlyOne: Mapping = {
    up: (value) => [value],
    down: (value) => (Array.isArray(value) ? (value[0] as JsonValue | undefined) : undefined),
  };
  return chain(
    fields(
      field('network.id'),
      field('network.name'),
      field('network.tags'),
      field('network.subnet', 'network.subnets', onlyOne),
      field('network.router', 'router'),
      field('network.apiServerLoadBalancer', 'apiServerLoadBalancer'),
    ),
  );
}

/** mapping of the whole OpenStackCluster */
export function alphaCluster(alpha: Alpha): Mapping {
  const bastionMapping = bastion(alpha);
  const outside: Mapping = fields(
    field('spec', 'spec', chain(fields(field('bastion', 'bastion', bastionMapping)), securityGroups)),
  );
  // The bastion and the security groups already have the hub form, so the v1beta1 mapping must skip them.
  const throughV1beta1: Mapping = chain(
    fields(field('spec', 'spec', clusterSpec(alpha)), field('status', 'status', clusterStatus(alpha))),
    withoutParts(openStackClusterV1beta1, ['bastion', 'managedSecurityGroups']),
  );
  return chain(outside, throughV1beta1);
}

/** Runs a mapping on an object without the named parts of the spec, then puts them back. */
function withoutParts(mapping: Mapping, names: readonly string[]): Mapping {
  const run = (value: JsonValue, step: (value: JsonValue) => JsonValue | undefined): JsonValue | undefined => {
    if (!isJsonObject(value) || !isJsonObject(value['spec'])) return step(value);
    const spec: JsonObject = { ...value['spec'] };
    const aside: JsonObject = {};
    for (const name of names) {
      if (spec[name] === undefined) continue;
      aside[name] = spec[name];
      delete spec[name];
    }
    const result = step({ ...value, spec });
    return isJsonObject(result)
      ? { ...result, spec: { ...(isJsonObject(result['spec']) ? result['spec'] : {}), ...aside } }
      : result;
  };
  return {
    up: (value, context) => run(value, (rest) => mapping.up(rest, context)),
    down: (value, context) => run(value, (rest) => mapping.down(rest, context)),
  };
}
