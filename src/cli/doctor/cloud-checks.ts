import { errorMessage } from '../../machinery/index.ts';
import { isOpenStackError, type OpenStack, quotaLeft, type TokenInfo } from '../../openstack/index.ts';
import type { Finding } from './findings.ts';

export const optionalServices = ['load-balancer', 'volume'] as const;
export type OptionalService = (typeof optionalServices)[number];

interface Check {
  readonly name: string;
  /** service required for this check */
  readonly needs?: OptionalService;
  /** returns the result as text, or with a status if it is not simply good */
  look(cloud: OpenStack, signal: AbortSignal): Promise<string | Pick<Finding, 'status' | 'detail'>>;
}

const warn = (detail: string): Pick<Finding, 'status' | 'detail'> => ({ status: 'warning', detail });
const count = (amount: number, one: string, many: string = `${one}s`): string =>
  `${amount} ${amount === 1 ? one : many}`;

const checks: readonly Check[] = [
  {
    name: 'compute',
    async look(cloud, signal) {
      const zones = (await cloud.compute.availabilityZones.list({ signal })).filter(({ available }) => available);
      if (zones.length === 0) return warn('no availability zone accepts servers; ask the operator of the cloud');
      return `zones ${zones.map(({ name }) => name).join(', ')}`;
    },
  },
  {
    name: 'flavors',
    async look(cloud, signal) {
      const amount = await countOf(cloud.compute.flavors.list({}, { signal }));
      return amount === 0
        ? warn('there are no flavors for servers; ask the operator of the cloud')
        : count(amount, 'flavor');
    },
  },
  {
    name: 'images',
    async look(cloud, signal) {
      const amount = await countOf(cloud.image.images.list({}, { signal }));
      return amount === 0 ? warn('there are no images; upload one with kubeadm or k0s') : count(amount, 'image');
    },
  },
  {
    name: 'external network',
    async look(cloud, signal) {
      const names: string[] = [];
      for await (const { name } of cloud.network.networks.list({ external: true }, { signal })) names.push(name);
      const [only, ...more] = names;
      if (only === undefined) return warn('there is no external network, which floating IPs and routers need');
      if (more.length === 0) return only;
      return `${names.join(', ')}; name one as externalNetwork of your OpenStackCluster`;
    },
  },
  { name: 'compute quota', look: (cloud, signal) => quota(cloud, 'compute', ['instances', 'cores', 'ram'], signal) },
  {
    name: 'network quota',
    look: (cloud, signal) =>
      quota(cloud, 'network', ['network', 'subnet', 'router', 'port', 'security_group', 'floatingip'], signal),
  },
  {
    name: 'volumes',
    needs: 'volume',
    look: (cloud, signal) => quota(cloud, 'volume', ['volumes', 'gigabytes'], signal),
  },
  {
    name: 'load balancers',
    needs: 'load-balancer',
    async look(cloud, signal) {
      let some = 0;
      for await (const _ of cloud.loadBalancer.loadBalancers.list({}, { signal })) some++;
      return count(some, 'load balancer');
    },
  },
];

/** Checks whether a cloud is suitable for clusters. Throws if authentication fails. */
export async function checkCloud(
  cloud: OpenStack,
  options: { without: readonly string[]; signal: AbortSignal },
): Promise<Finding[]> {
  const { signal } = options;
  const token = await cloud.identity.whoami({ signal });
  const results = checks.map(async ({ name, needs, look }): Promise<Finding> => {
    if (needs !== undefined && options.without.includes(needs)) {
      return { check: name, status: 'skipped', detail: `skipped with --without ${needs}` };
    }
    try {
      const seen = await look(cloud, signal);
      return { check: name, ...(typeof seen === 'string' ? { status: 'ok', detail: seen } : seen) };
    } catch (error) {
      // Compute and network are mandatory; without them, the region is most likely wrong.
      if (needs === undefined && isOpenStackError(error, 'noService')) throw error;
      return { check: name, status: 'failed', detail: explain(error, needs) };
    }
  });
  return [{ check: 'credentials', status: 'ok', detail: describeToken(token) }, ...(await Promise.all(results))];
}

function explain(error: unknown, service: OptionalService | undefined): string {
  const text = errorMessage(error);
  if (service === undefined || !isOpenStackError(error, 'noService')) return text;
  return `${text}; if the cloud has none, use --without ${service}`;
}

function describeToken({ user, project, roles }: TokenInfo): string {
  const where = project ? `project ${project.name}` : 'no project; set project_name in clouds.yaml';
  const may = roles.map(({ name }) => name).join(', ');
  return `user ${user.name}, ${where}, ${may === '' ? 'no roles' : `roles ${may}`}`;
}

async function countOf(pages: AsyncIterable<unknown>): Promise<number> {
  let amount = 0;
  for await (const _ of pages) amount++;
  return amount;
}

/** Compares the remaining quota with the needs of a cluster; nothing left is a warning. */
async function quota(
  cloud: OpenStack,
  service: 'compute' | 'network' | 'volume',
  names: readonly string[],
  signal: AbortSignal,
): Promise<string | Pick<Finding, 'status' | 'detail'>> {
  const quotas = await cloud[service].quotas(await cloud.projectId(signal), { signal });
  const left = names.flatMap((name) => {
    const one = quotas[name];
    const amount = one && quotaLeft(one);
    return amount === undefined ? [] : [{ name, amount }];
  });
  const used = left.filter(({ amount }) => amount === 0).map(({ name }) => name);
  if (used.length > 0) return warn(`no ${used.join(', ')} left; delete some or ask for more quota`);
  return `left: ${left.map(({ name, amount }) => `${amount === Number.POSITIVE_INFINITY ? 'unlimited' : amount} ${name}`).join(', ')}`;
}
