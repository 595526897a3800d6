import type { OpenStackServer } from '../../../api/index.ts';
import { collect, type Flavor, type OpenStack, orUndefined, quotaLeft } from '../../../openstack/index.ts';
import { argumentOf, textAt } from '../../describe/fields.ts';
import { failed, fine, type Seen, warned } from '../findings.ts';
import { validity } from './expiry.ts';
import type { Check } from './run-checks.ts';
import type { ClusterInCloud } from './subject.ts';

/** Checks the resources of a cluster in its project and the quota for another machine. */
export const cloudSideChecks: readonly Check<ClusterInCloud>[] = [
  { name: 'credentials', look: checkToken },
  { name: 'quota', look: checkQuota },
  { name: 'network', look: checkNetwork },
  { name: 'security groups', look: checkSecurityGroups },
  { name: 'load balancer', look: checkLoadBalancer },
  { name: 'floating IP', look: checkFloatingIp },
  { name: 'servers', look: checkServers },
];

const renewCredentials = 'put new ones into the Secret that identityRef names: the controllers use them at once';

async function checkToken({ cloud, nowMs }: ClusterInCloud, signal: AbortSignal): Promise<Seen[]> {
  const { user, project, roles } = await cloud.identity.whoami({ signal });
  if (!project) return [failed('the credentials have no project', 'set project_name in clouds.yaml')];
  const may = roles.map(({ name }) => name).join(', ');
  const detail = `user ${user.name}, project ${project.name}, ${may === '' ? 'no roles' : `roles ${may}`}`;
  const seen = [may === '' ? failed(detail, 'give the user a role in the project, such as member') : fine(detail)];
  const { credential } = cloud.config;
  if (credential.method !== 'applicationCredential' || !('id' in credential)) return seen;
  // A restricted application credential may not read itself.
  const own = await cloud.identity
    .applicationCredentials(user.id)
    .get(credential.id, { signal })
    .catch(() => undefined);
  if (own?.expiresAt === undefined) return seen;
  const validUntil = Date.parse(own.expiresAt);
  return [...seen, validity(`application credential ${own.name}`, validUntil, { nowMs, cure: renewCredentials })];
}

/** Checks the quota for one more machine of each size, because a rollout creates a machine before it deletes one. */
async function checkQuota(subject: ClusterInCloud, signal: AbortSignal): Promise<Seen> {
  const { cloud, servers } = subject;
  const projectId = await cloud.projectId(signal);
  const [compute, network] = await Promise.all([
    cloud.compute.quotas(projectId, { signal }),
    cloud.network.quotas(projectId, { signal }),
  ]);
  const flavors = await flavorsOf(cloud, servers, signal);
  const most = (size: (flavor: Flavor) => number): number => Math.max(0, ...flavors.map(size));
  const needs: readonly (readonly [name: string, left: number | undefined, needed: number])[] = [
    ['instances', left(compute['instances']), 1],
    ['cores', left(compute['cores']), most(({ vcpus }) => vcpus)],
    ['ram', left(compute['ram']), most(({ ram }) => ram)],
    ['ports', left(network['port']), Math.max(1, ...servers.map(({ spec }) => spec.ports.length))],
  ];
  const short = needs.filter(([, has, needed]) => has !== undefined && has < needed);
  if (short.length > 0) {
    const what = short.map(([name, has, needed]) => `${name} (${has} left, ${needed} needed)`).join(', ');
    return warned(
      `not enough for one more machine: ${what}`,
      'delete unused resources or ask for more quota: until then no machine is replaced and no upgrade begins',
    );
  }
  const rest = needs.flatMap(([name, has]) =>
    has === undefined ? [] : [`${Number.isFinite(has) ? has : 'unlimited'} ${name}`],
  );
  return fine(`enough for one more machine; left: ${rest.join(', ')}`);
}

const left = (quota: Parameters<typeof quotaLeft>[0] | undefined): number | undefined => quota && quotaLeft(quota);

async function flavorsOf(
  cloud: OpenStack,
  servers: readonly OpenStackServer[],
  signal: AbortSignal,
): Promise<Flavor[]> {
  const ids = new Set(servers.flatMap(({ spec, status }) => status?.resolved?.flavorID ?? spec.flavorID ?? []));
  const all = await collect(cloud.compute.flavors.list({}, { signal }));
  return all.filter(({ id }) => ids.has(id));
}

async function checkNetwork({ cloud, infrastructure }: ClusterInCloud, signal: AbortSignal): Promise<Seen[]> {
  const { network, router, externalNetwork } = infrastructure.status ?? {};
  const seen: Seen[] = [];
  if (network?.id === undefined) return [warned('the cluster has none yet', 'capstan why shows what it waits for')];
  const there = await orUndefined(cloud.network.networks.get(network.id, { signal }));
  if (!there) return [gone('network', network.id)];
  if (there.status !== 'ACTIVE')
    seen.push(warned(`network ${there.name} (${there.id}) is ${there.status}`, askOperator));
  for (const { id } of network.subnets ?? []) {
    if (!(await orUndefined(cloud.network.subnets.get(id, { signal })))) seen.push(gone('subnet', id));
  }
  const { router: given } = infrastructure.spec;
  if (router?.id !== undefined) {
    const found = await orUndefined(cloud.network.routers.get(router.id, { signal }));
    if (!found) seen.push(gone('router', router.id));
    else if (found.status !== 'ACTIVE') seen.push(warned(`router ${found.name} is ${found.status}`, askOperator));
    else if (externalNetwork?.id !== undefined && found.gateway?.networkId !== externalNetwork.id) {
      const cure =
        given === undefined
          ? 'the controllers restore it'
          : `openstack router set --external-gateway ${externalNetwork.id} ${found.id}`;
      seen.push(failed(`router ${found.name} does not lead to the external network ${externalNetwork.id}`, cure));
    }
  }
  if (externalNetwork?.id !== undefined) {
    const outside = await orUndefined(cloud.network.networks.get(externalNetwork.id, { signal }));
    if (!outside) seen.push(gone('external network', externalNetwork.id));
    else if (!outside.external) {
      seen.push(
        failed(
          `network ${outside.name} is not external (router:external)`,
          'capstan get networks lists external networks',
        ),
      );
    }
  }
  return seen.length > 0
    ? seen
    : [fine(`${there.name} (${there.id}), ${router?.id === undefined ? 'no router' : `router ${router.name}`}`)];
}

const askOperator = 'ask the operator of the cloud';

function gone(what: string, id: string): Seen {
  return failed(
    `${what} ${id} no longer exists in the cloud`,
    'the controllers create their own resources again; you have to restore what you brought',
  );
}

async function checkSecurityGroups({ cloud, infrastructure }: ClusterInCloud, signal: AbortSignal): Promise<Seen[]> {
  const { controlPlaneSecurityGroup, workerSecurityGroup } = infrastructure.status ?? {};
  const groups = [controlPlaneSecurityGroup, workerSecurityGroup].filter((group) => group !== undefined);
  if (groups.length === 0) return [fine('none of our making')];
  const seen: Seen[] = [];
  for (const { id, name } of groups) {
    const group = await orUndefined(cloud.network.securityGroups.get(id, { signal }));
    if (!group) {
      seen.push(gone(`security group ${name}`, id));
      continue;
    }
    const rules = await collect(cloud.network.securityGroupRules.list({ securityGroupId: id }, { signal }));
    if (!rules.some(({ direction }) => direction === 'ingress')) {
      seen.push(
        failed(
          `security group ${name} allows no incoming traffic`,
          'the controllers restore its rules at their next check',
        ),
      );
    }
  }
  return seen.length > 0 ? seen : [fine(groups.map(({ name }) => name).join(', '))];
}

async function checkLoadBalancer({ cloud, infrastructure }: ClusterInCloud, signal: AbortSignal): Promise<Seen[]> {
  const id = infrastructure.status?.apiServerManagedLoadBalancer?.id;
  if (id === undefined || id === '') return [fine('the cluster has none')];
  const { loadBalancers, pools, members } = cloud.loadBalancer;
  const found = await orUndefined(loadBalancers.get(id, { signal }));
  if (!found) return [gone('load balancer', id)];
  const { provisioningStatus, operatingStatus, name } = found;
  const states = `${name} (${id}) is ${provisioningStatus}, ${operatingStatus}`;
  const seen: Seen[] = [];
  if (provisioningStatus === 'ERROR') {
    seen.push(
      failed(states, 'try to repair it with openstack loadbalancer failover, or ask the operator of the cloud'),
    );
  } else if (provisioningStatus !== 'ACTIVE') {
    seen.push(warned(states, 'this takes minutes; if it does not change, ask the operator of the cloud'));
  } else if (operatingStatus !== 'ONLINE' && operatingStatus !== 'NO_MONITOR') {
    seen.push(warned(states, 'a member does not answer: check its machine'));
  }
  let count = 0;
  for (const pool of await collect(pools.list({ loadBalancerId: id }, { signal }))) {
    const all = await collect(members(pool.id).list({}, { signal }));
    count += all.length;
    for (const member of all) {
      if (member.operatingStatus !== 'ERROR' && member.operatingStatus !== 'OFFLINE') continue;
      const where = `${member.address}:${member.protocolPort}`;
      seen.push(
        warned(
          `member ${member.name} at ${where} is ${member.operatingStatus}`,
          `nothing answers there: capstan why machine ${member.name}`,
        ),
      );
    }
  }
  if (count === 0)
    seen.push(failed(`${states}, and has no members`, 'members are added with the machines of the control plane'));
  return seen.length > 0 ? seen : [fine(`${states}, ${count} members`)];
}

async function checkFloatingIp(subject: ClusterInCloud, signal: AbortSignal): Promise<Seen> {
  const { cloud, infrastructure, servers } = subject;
  const { apiServer, controlPlaneEndpoint } = infrastructure.spec;
  const host = textAt(subject.found.cluster, 'spec', 'controlPlaneEndpoint', 'host') ?? controlPlaneEndpoint?.host;
  if (apiServer?.enableFloatingIP === false || host === undefined || host === '') return fine('the API has none');
  const [address] = await collect(cloud.network.floatingIps.list({ address: host }, { signal }));
  if (!address) return fine(`${host} is not a floating IP of this project`);
  if (address.portId === undefined) {
    return failed(
      `${host} leads nowhere`,
      'it is connected to a running control plane machine: capstan why shows what the machines wait for',
    );
  }
  const port = await orUndefined(cloud.network.ports.get(address.portId, { signal }));
  const balancer = infrastructure.status?.apiServerManagedLoadBalancer;
  const isOurs =
    port !== undefined &&
    (servers.some(({ status }) => status?.instanceID === port.deviceId) ||
      (balancer?.id !== undefined &&
        (port.deviceId === `lb-${balancer.id}` ||
          port.fixedIps.some(({ address: at }) => at === balancer.internalIP))));
  if (!isOurs) {
    const whose =
      port === undefined
        ? `port ${address.portId}`
        : `port ${port.name || port.id} of ${port.deviceOwner || 'nobody'} ${port.deviceId}`;
    return failed(
      `${host} leads to ${whose}, which does not belong to this cluster`,
      'disconnect it there: the controllers connect it to the cluster again',
    );
  }
  return fine(`${host} leads to ${port.name || port.id}`);
}

async function checkServers({ cloud, servers }: ClusterInCloud, signal: AbortSignal): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (const { metadata, status } of servers) {
    const { name = '' } = metadata;
    const id = status?.instanceID;
    if (id === undefined) {
      if (metadata.deletionTimestamp === undefined)
        seen.push(warned(`${name} has no server yet`, `capstan why machine ${argumentOf({ metadata })}`));
      continue;
    }
    const server = await orUndefined(cloud.compute.servers.get(id, { signal }));
    if (!server)
      seen.push(
        failed(
          `server ${id} of ${name} no longer exists in the cloud`,
          'its machine is replaced, unless an annotation forbids it',
        ),
      );
    else if (server.status === 'ERROR') {
      seen.push(
        failed(
          `server ${name} is in ERROR: ${server.fault?.message ?? 'Nova gives no reason'}`,
          `when the cause is gone, replace it with kubectl delete machine ${argumentOf({ metadata })}`,
        ),
      );
    } else if (server.status !== 'ACTIVE') {
      seen.push(
        warned(`server ${name} is ${server.status}`, `openstack server start ${id}, if nobody stopped it on purpose`),
      );
    }
  }
  return seen.length > 0 ? seen : [fine(`${servers.length} servers, all ACTIVE`)];
}
