import { type CloudChange, isRehearsedAddress, type RehearsedCloud } from '../../openstack/index.ts';

export const typeNames: Readonly<Record<CloudChange['type'], string>> = {
  network: 'network',
  subnet: 'subnet',
  router: 'router',
  routerInterface: 'router interface',
  port: 'port',
  trunk: 'trunk',
  securityGroup: 'security group',
  securityGroupRule: 'security group rule',
  floatingIp: 'floating IP',
  server: 'server',
  serverGroup: 'server group',
  volume: 'volume',
  loadBalancer: 'load balancer',
  listener: 'listener',
  pool: 'pool',
  healthMonitor: 'health monitor',
  member: 'member',
};

/**
 * Returns the display name of a resource: rules have the name of their group, and addresses their own value, if known.
 */
export function nameOf(change: CloudChange, cloud: RehearsedCloud): string {
  switch (change.type) {
    case 'securityGroupRule': {
      const { securityGroupId } = change.thing;
      return cloud.current('securityGroup', securityGroupId)?.name ?? securityGroupId;
    }
    case 'floatingIp':
      return isRehearsedAddress(change.thing.address) ? '' : change.thing.address;
    default:
      return change.thing.name;
  }
}

export async function detailOf(change: CloudChange, cloud: RehearsedCloud): Promise<string> {
  switch (change.type) {
    case 'subnet':
      return change.thing.cidr;
    case 'server': {
      const { flavor, availabilityZone, keyName } = change.thing;
      const size =
        flavor.id === undefined
          ? undefined
          : await cloud.openstack.compute.flavors.get(flavor.id).catch(() => undefined);
      return words(
        flavor.name ?? size?.name ?? flavor.id,
        availabilityZone && `zone ${availabilityZone}`,
        keyName && `key ${keyName}`,
      );
    }
    case 'volume':
      return words(`${change.thing.size} GiB`, change.thing.volumeType && `type ${change.thing.volumeType}`);
    case 'securityGroupRule': {
      const { direction, ethertype, protocol, portRangeMin, portRangeMax, remoteIpPrefix, remoteGroupId } =
        change.thing;
      const ports = portRangeMin === portRangeMax ? portRangeMin : `${portRangeMin}-${portRangeMax}`;
      const group = remoteGroupId && (cloud.current('securityGroup', remoteGroupId)?.name ?? remoteGroupId);
      const from = remoteIpPrefix ?? group;
      return [direction, ethertype, protocol ?? 'any', portRangeMin === undefined ? '' : ports, from && `from ${from}`]
        .filter((word) => word !== '' && word !== undefined)
        .join(' ');
    }
    case 'floatingIp': {
      const network = cloud.current('network', change.thing.networkId)?.name ?? change.thing.networkId;
      return `of network ${network}`;
    }
    case 'listener':
      return `${change.thing.protocol} ${change.thing.protocolPort}`;
    case 'serverGroup':
      return change.thing.policy;
    default:
      return '';
  }
}

const words = (...all: readonly (string | undefined)[]): string =>
  all.filter((word) => word !== undefined && word !== '').join(', ');
