import { isOpenStackError, type Quotas, quotaLeft, type RehearsedCloud } from '../../openstack/index.ts';
import type { MadeChange } from './cluster-rehearsal.ts';
import type { QuotaLine } from './types.ts';

type Service = 'compute' | 'network' | 'volume' | 'loadBalancer';

/** A quota: its label here, and its names in the service. */
interface Limit {
  readonly label: string;
  readonly service: Service;
  /** names in older and newer services */
  readonly names: readonly string[];
}

type LimitName =
  | 'instances'
  | 'cores'
  | 'ram'
  | 'serverGroups'
  | 'networks'
  | 'subnets'
  | 'routers'
  | 'ports'
  | 'floatingIps'
  | 'securityGroups'
  | 'rules'
  | 'volumes'
  | 'gigabytes'
  | 'loadBalancers'
  | 'listeners'
  | 'pools'
  | 'monitors'
  | 'members';
export type Needs = Partial<Record<LimitName, number>>;

const limits: Readonly<Record<LimitName, Limit>> = {
  instances: { label: 'instances', service: 'compute', names: ['instances'] },
  cores: { label: 'cores', service: 'compute', names: ['cores'] },
  ram: { label: 'ram (MiB)', service: 'compute', names: ['ram'] },
  serverGroups: { label: 'server groups', service: 'compute', names: ['server_groups'] },
  networks: { label: 'networks', service: 'network', names: ['network'] },
  subnets: { label: 'subnets', service: 'network', names: ['subnet'] },
  routers: { label: 'routers', service: 'network', names: ['router'] },
  ports: { label: 'ports', service: 'network', names: ['port'] },
  floatingIps: { label: 'floating IPs', service: 'network', names: ['floatingip'] },
  securityGroups: { label: 'security groups', service: 'network', names: ['security_group'] },
  rules: { label: 'security group rules', service: 'network', names: ['security_group_rule'] },
  volumes: { label: 'volumes', service: 'volume', names: ['volumes'] },
  gigabytes: { label: 'gigabytes', service: 'volume', names: ['gigabytes'] },
  loadBalancers: { label: 'load balancers', service: 'loadBalancer', names: ['load_balancer', 'loadbalancer'] },
  listeners: { label: 'listeners', service: 'loadBalancer', names: ['listener'] },
  pools: { label: 'pools', service: 'loadBalancer', names: ['pool'] },
  monitors: { label: 'health monitors', service: 'loadBalancer', names: ['health_monitor', 'healthmonitor'] },
  members: { label: 'members', service: 'loadBalancer', names: ['member'] },
};

/** Returns the quota that a change takes; negative if it frees some. */
async function needsOf({ change, cloud }: MadeChange): Promise<Needs> {
  if (change.action === 'change') return {};
  const needs = await needsOfNew(change, cloud);
  if (change.action === 'create') return needs;
  return Object.fromEntries(Object.entries(needs).map(([name, amount]) => [name, -amount]));
}

async function needsOfNew(change: MadeChange['change'], cloud: RehearsedCloud): Promise<Needs> {
  switch (change.type) {
    case 'server': {
      const { flavor } = change.thing;
      const size =
        flavor.id === undefined
          ? undefined
          : await cloud.openstack.compute.flavors.get(flavor.id).catch(() => undefined);
      return {
        instances: 1,
        cores: flavor.vcpus ?? size?.vcpus ?? 0,
        ram: flavor.ram ?? size?.ram ?? 0,
      };
    }
    case 'serverGroup':
      return { serverGroups: 1 };
    case 'network':
      return { networks: 1 };
    case 'subnet':
      return { subnets: 1 };
    case 'router':
      return { routers: 1 };
    case 'port':
    case 'routerInterface':
      return { ports: 1 };
    case 'floatingIp':
      return { floatingIps: 1 };
    case 'securityGroup':
      return { securityGroups: 1, rules: change.action === 'create' ? 2 : change.thing.rules.length };
    case 'securityGroupRule':
      return { rules: 1 };
    case 'volume':
      return { volumes: 1, gigabytes: change.thing.size };
    case 'loadBalancer':
      // the address uses a port
      return { loadBalancers: 1, ports: 1 };
    case 'listener':
      return { listeners: 1 };
    case 'pool':
      return { pools: 1 };
    case 'healthMonitor':
      return { monitors: 1 };
    case 'member':
      return { members: 1 };
    default:
      return {};
  }
}

/** Returns the maximum use at any moment of the ordered changes. */
export async function heightOf(changes: readonly MadeChange[]): Promise<Needs> {
  const now: Needs = {};
  const most: Needs = {};
  for (const change of changes) {
    for (const [name, amount] of Object.entries(await needsOf(change)) as [LimitName, number][]) {
      now[name] = (now[name] ?? 0) + amount;
      most[name] = Math.max(most[name] ?? 0, now[name] ?? 0);
    }
  }
  return most;
}

/**
 * Compares the needs of all clusters of a project with the remaining quota. The maxima are added, because the clusters'
 * order is unknown.
 */
export async function compareQuotas(
  cloud: RehearsedCloud,
  title: string,
  heights: readonly Needs[],
  signal: AbortSignal,
): Promise<QuotaLine[]> {
  const total: Needs = {};
  for (const height of heights) {
    for (const [name, amount] of Object.entries(height) as [LimitName, number][]) {
      total[name] = (total[name] ?? 0) + amount;
    }
  }
  const quotas = new Map<Service, Promise<Quotas | undefined>>();
  const quotasOf = (service: Service): Promise<Quotas | undefined> => {
    const known =
      quotas.get(service) ??
      cloud.openstack[service].quotas(cloud.projectId, { signal }).catch((error: unknown) => {
        // Without permission to read quotas, the line is omitted.
        if (isOpenStackError(error)) return undefined;
        throw error;
      });
    quotas.set(service, known);
    return known;
  };
  const lines: QuotaLine[] = [];
  for (const [name, { label, service, names }] of Object.entries(limits) as [LimitName, Limit][]) {
    const needed = total[name] ?? 0;
    if (needed === 0) continue;
    const known = await quotasOf(service);
    const quota = names.map((one) => known?.[one]).find((one) => one !== undefined);
    let left = quota && quotaLeft(quota);
    if (quota && left === undefined && name === 'loadBalancers') {
      left = Math.max(0, quota.limit - (await ownBalancers(cloud)));
    }
    lines.push({
      cloud: title,
      resource: label,
      needed,
      ...(left !== undefined && { left: left === Number.POSITIVE_INFINITY ? null : left }),
      enough: left === undefined || left >= needed,
    });
  }
  return lines;
}

/** Octavia does not report usage, so existing load balancers are counted. */
async function ownBalancers(cloud: RehearsedCloud): Promise<number> {
  const all = await cloud.all('loadBalancer');
  return all.filter(({ id, projectId }) => projectId === cloud.projectId && !cloud.isNew(id)).length;
}
