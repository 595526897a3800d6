import { CustomResourceDefinitions, DaemonSets, Deployments, Nodes, Services } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { ApiStatusError, type KubeObject, parseRfc3339, type Resource } from '../../machinery/index.ts';
import type { Finding } from '../doctor/findings.ts';

const check = 'load balancers';

/** Parts of workload names of load balancer implementations. */
const workloads: readonly [part: string, name: string][] = [
  ['cloud-controller-manager', 'a cloud controller manager'],
  ['ccm', 'a cloud controller manager'],
  ['metallb', 'MetalLB'],
  ['kube-vip-cloud-provider', 'kube-vip'],
  ['kube-vip', 'kube-vip'],
  ['purelb', 'PureLB'],
  ['openelb', 'OpenELB'],
];
const definitions: readonly [name: string, implementation: string][] = [
  ['ipaddresspools.metallb.io', 'MetalLB'],
  ['ciliumloadbalancerippools.cilium.io', 'Cilium'],
];
/** Time without address after which a Service counts as a problem. */
const patienceMs = 2 * 60_000;

/**
 * Checks whether Services of type LoadBalancer get addresses, which hosted control planes need. Kubernetes has no
 * object for this. Existing addresses are the best sign, a known implementation the second best.
 */
export async function checkLoadBalancers(client: Client, nowMs: number, signal: AbortSignal): Promise<Finding> {
  const list = async <T extends KubeObject>(resource: Resource<T>): Promise<readonly T[]> =>
    (await client.list(resource, { signal })).items;
  try {
    const services = (await list(Services)).filter(({ spec }) => spec?.type === 'LoadBalancer');
    const waiting = services.filter(
      ({ status, metadata }) =>
        !status?.loadBalancer?.ingress?.length &&
        nowMs - (parseRfc3339(metadata.creationTimestamp ?? '') ?? nowMs) > patienceMs,
    );
    const implementation = await findImplementation(list);
    if (waiting.length > 0) {
      const [{ metadata }] = waiting as [(typeof waiting)[number]];
      const others = waiting.length === 1 ? '' : ` and ${waiting.length - 1} more`;
      const cause =
        implementation === undefined ? 'no load balancer implementation was found' : `check ${implementation}`;
      return {
        check,
        status: 'warning',
        detail: `Service ${metadata.namespace ?? ''}/${metadata.name ?? ''}${others} waits for an address: ${cause}`,
      };
    }
    const served = services.find(({ status }) => status?.loadBalancer?.ingress?.length);
    if (implementation !== undefined) return { check, status: 'ok', detail: implementation };
    if (served) {
      const { namespace = '', name = '' } = served.metadata;
      return { check, status: 'ok', detail: `Service ${namespace}/${name} has an address` };
    }
    return {
      check,
      status: 'warning',
      detail:
        'no load balancer implementation was found for Services of type LoadBalancer: hosted control planes get no address; install a cloud controller manager, MetalLB or kube-vip, or expose them by NodePort',
    };
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.code !== 403) throw error;
    return { check, status: 'skipped', detail: 'you may not list Services, Nodes and workloads here' };
  }
}

async function findImplementation(
  list: <T extends KubeObject>(resource: Resource<T>) => Promise<readonly T[]>,
): Promise<string | undefined> {
  const [nodes, deployments, daemonSets, kinds] = await Promise.all([
    list(Nodes),
    list(Deployments),
    list(DaemonSets),
    list(CustomResourceDefinitions),
  ]);
  if (nodes.some(({ status }) => status?.nodeInfo?.osImage === 'capstan')) return 'the Pod host of `capstan up`';
  const isK3s = nodes.some(({ metadata }) => metadata.labels?.['node.kubernetes.io/instance-type'] === 'k3s');
  if (isK3s) return 'ServiceLB of k3s';
  const names = [...deployments, ...daemonSets].map(({ metadata }) => metadata.name ?? '');
  const workload = workloads.find(([part]) => names.some((name) => `-${name}-`.includes(`-${part}-`)));
  if (workload) return workload[1];
  const served = new Set(kinds.map(({ metadata }) => metadata.name));
  return definitions.find(([name]) => served.has(name))?.[1];
}
