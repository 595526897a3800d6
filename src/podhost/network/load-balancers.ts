import { type Service, Services } from '../../api/index.ts';
import { formatKey } from '../../client/index.ts';
import { type Condition, deepEqual, isNotFound } from '../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchObjects,
} from '../../runtime/index.ts';
import type { AddressBook, AddressGrant } from './address-book.ts';
import { isExposed, isForeign, type ServiceTable } from './services.ts';
import type { HostSockets, ListenProblem } from './sockets.ts';

const fieldManager = 'service-controller';
/** time before an address that another program holds is tried again */
const retryMs = 10_000;

export interface LoadBalancerOptions {
  readonly book: AddressBook;
  readonly sockets: HostSockets;
  readonly table: Pick<ServiceTable, 'isHeldByOther'>;
  readonly nodeAddress: string;
  /** range of load balancer addresses */
  readonly cidr: string;
}

/** Assigns a reachable address to Services of type LoadBalancer, and opens the node ports of all Services. */
export function loadBalancerController(options: LoadBalancerOptions): ControllerDefinition {
  const { book, sockets, table, nodeAddress, cidr } = options;
  /**
   * Users on this machine expect node ports at 127.0.0.1. Machines of a simulated cloud have that address themselves.
   */
  const nodeListenAddresses: readonly string[] = ['127.0.0.1', nodeAddress];
  /** open node ports by Service */
  const nodePorts = new Map<string, ReadonlySet<number>>();

  const keepNodePorts = async (key: string, service: Service | undefined): Promise<Unopened[]> => {
    const wanted = new Set((service?.spec.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [nodePort] : [])));
    const before = nodePorts.get(key);
    if (wanted.size > 0) nodePorts.set(key, wanted);
    else nodePorts.delete(key);
    const taken: Unopened[] = [];
    for (const address of nodeListenAddresses) {
      for (const port of before ?? []) if (!wanted.has(port)) await sockets.close(address, port);
      for (const port of wanted) {
        const problem = await sockets.open(address, port);
        if (problem?.code === 'EADDRINUSE') taken.push({ address, port, problem });
      }
    }
    return taken;
  };

  const reconcile = async (context: ReconcileContext, key: { namespace?: string; name: string }): Promise<Result> => {
    const id = formatKey(key);
    const service = context.cache.lister(Services).get(key);
    const isGoing = !service || service.metadata.deletionTimestamp !== undefined;
    const taken = await keepNodePorts(id, isGoing ? undefined : service);
    if (service) for (const unopened of taken) reportUnopened(context, service, unopened);
    if (isGoing || !isBalanced(service)) {
      await book.release(id);
      if (service && !isGoing && (service.status?.loadBalancer?.ingress?.length ?? 0) > 0 && !isForeign(service)) {
        await writeStatus(context, service, undefined);
      }
    } else {
      const grant = await balance(context, id, service);
      if (grant?.problems.some(({ problem }) => problem.code === 'EADDRINUSE')) {
        return after(retryMs, 'another program holds an address');
      }
    }
    return taken.length > 0 ? after(retryMs, 'another program holds a node port') : done();
  };

  const balance = async (
    context: ReconcileContext,
    id: string,
    service: Service,
  ): Promise<AddressGrant | undefined> => {
    const { spec, status } = service;
    const recorded = status?.loadBalancer?.ingress?.[0]?.ip;
    const grant = await book.grant({
      owner: id,
      ports: (spec.ports ?? []).filter(({ protocol }) => (protocol ?? 'TCP') === 'TCP').map(({ port }) => port),
      ...(recorded !== undefined && { recorded }),
      ...(spec.loadBalancerIP && { asked: spec.loadBalancerIP }),
      isHeldByOther: (address) => table.isHeldByOther(address, service),
    });
    reportProblems(context, service, grant, cidr);
    if (grant) await writeStatus(context, service, grant.address);
    return grant;
  };

  return defineController({
    name: 'service-lb-controller',
    for: Services,
    watches: [watchObjects(Services, { predicates: [concernsUs] })],
    reconcile,
  });
}

function concernsUs(event: { object: Service; old?: Service }): boolean {
  return [event.object, event.old].some((service) => service && isExposed(service));
}

function isBalanced(service: Service): boolean {
  return service.spec.type === 'LoadBalancer' && !isForeign(service);
}

function reportProblems(
  context: ReconcileContext,
  service: Service,
  grant: AddressGrant | undefined,
  cidr: string,
): void {
  if (!grant) {
    const { loadBalancerIP } = service.spec;
    const message = `Error syncing load balancer: address ${loadBalancerIP} cannot be given: it must be a free one of ${cidr}`;
    context.events.event(service, 'Warning', 'SyncLoadBalancerFailed', message);
    return;
  }
  const { address, problems } = grant;
  for (const { port, problem } of problems) reportUnopened(context, service, { address, port, problem });
}

/** A port that could not be opened. */
interface Unopened {
  readonly address: string;
  readonly port: number;
  readonly problem: ListenProblem;
}

function reportUnopened({ events }: ReconcileContext, service: Service, { address, port, problem }: Unopened): void {
  const cure =
    problem.code === 'EACCES'
      ? ': ports below 1024 need the right to use them, see net.ipv4.ip_unprivileged_port_start'
      : '';
  const message = `Port ${port} of ${address} is not open on this machine: ${problem.message}${cure}`;
  events.event(service, 'Warning', 'ListenFailed', message);
}

async function writeStatus(
  { client, signal, events }: ReconcileContext,
  service: Service,
  address: string | undefined,
): Promise<void> {
  const loadBalancer = address === undefined ? {} : { ingress: [{ ip: address, ipMode: 'VIP' }] };
  const before = service.status?.loadBalancer ?? {};
  if (deepEqual(before, loadBalancer)) return;
  const status: { loadBalancer: typeof loadBalancer; conditions?: Condition[] } = { ...service.status, loadBalancer };
  try {
    await client.update(Services, { ...service, status }, { fieldManager, subresource: 'status', signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return;
  }
  if (address !== undefined) events.event(service, 'Normal', 'EnsuredLoadBalancer', 'Ensured load balancer');
}
