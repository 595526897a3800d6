import { isIP } from 'node:net';
import {
  GatewayClasses,
  IngressClasses,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  StorageClasses,
  type Taint,
} from '../api/index.ts';
import type { PodAttacher, PodConnector, PodExecutor, PodLogSource } from '../apiserver/index.ts';
import type { Client } from '../client/index.ts';
import { externalProvisionerControllers, type Provisioners, workloadControllers } from '../housekeeping/index.ts';
import { type Clock, isAlreadyExists, type KubeObject, type Random, type Resource } from '../machinery/index.ts';
import {
  type CheckResult,
  type ControllerDefinition,
  createManager,
  type Logger,
  type RuntimeMetrics,
  watchMapped,
} from '../runtime/index.ts';
import {
  type HostNetwork,
  type LoopbackRange,
  logFiles,
  type PodBackend,
  type PortService,
  podAttacher,
  podCommandRunner,
  podLogSource,
  podPortConnector,
  schedulerController,
} from '../simkube/index.ts';
import { gatewayClassController, gatewayController, standardGatewayClass } from './gateway/gateway-controller.ts';
import { gatewayHosts } from './gateway/hosts.ts';
import { ingressController, standardIngressClass } from './gateway/ingress-controller.ts';
import { tlsRouteController } from './gateway/route-controller.ts';
import { type GatewayView, gatewayView } from './gateway/view.ts';
import { type AddressBook, addressBook } from './network/address-book.ts';
import { type HostAddresses, hostAddresses } from './network/addresses.ts';
import { createHostNetwork, type NamedHosts } from './network/host-network.ts';
import { loadBalancerController } from './network/load-balancers.ts';
import { hostRange, usualRange } from './network/range.ts';
import { type ServiceTable, serviceTable } from './network/services.ts';
import { hostSockets, noSockets } from './network/sockets.ts';
import { nodeResources } from './node/node-object.ts';
import {
  embeddedLease,
  kubeletLease,
  leaveNode,
  nodeLeaseController,
  type RegistrationOptions,
  registerNode,
} from './node/registration.ts';
import { cachedContents, namedContents } from './pods/contents.ts';
import { podController, type RunningPods } from './pods/pod-controller.ts';
import { type PodReferences, podReferences } from './pods/references.ts';
import { directoryProvisioner, directoryProvisionerName, standardStorageClass } from './storage/provisioner.ts';

export interface PodHostOptions {
  /** trusted, because the host is part of the API server it runs on */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics?: RuntimeMetrics;
  /** creates the container backend; its programs reach each other through the network */
  backend(parts: { network: HostNetwork; nodeAddress: string }): PodBackend;
  /** whether load balancers, node ports and Gateways listen on real sockets */
  readonly sockets: boolean;
  /** preferred address range, unless another program on this computer holds it; default 127.65.0.0/16 */
  readonly range?: LoopbackRange;
  /** whether the Gateway API kinds are served, so that Gateways and Ingresses are supported; default true */
  readonly gateways?: boolean;
  readonly nodeName?: string;
  /** version of the API server, shown by the node */
  readonly version?: string;
  /** directory of container logs; absent: logs are kept in memory only */
  readonly logDirectory?: string;
  /** the management API, reachable for Pods by the Service `kubernetes` */
  readonly managementApi?: PortService;
  /**
   * set if the API is another Kubernetes, whose own controllers and scheduler do everything except the work of a node
   */
  readonly guest?: GuestOptions;
}

/** A Pod host that is one node of another Kubernetes. */
export interface GuestOptions {
  /** distinguishes this host from others with the same node name */
  readonly machineId: string;
  /** initial taints; afterwards the cluster administrator manages them */
  readonly taints: readonly Taint[];
  /** deletes the node if the host ends without Pods, because nodes may not do that themselves */
  readonly administrator: Client;
}

/** Runs the Pods of a management API in this process. */
export interface PodHost {
  readonly network: HostNetwork;
  /** address of the node */
  readonly address: string;
  /** address range of Services of type LoadBalancer */
  readonly cidr: string;
  findPod(namespace: string, name: string): Pod | undefined;
  readonly podLogs: PodLogSource;
  readonly podConnector: PodConnector;
  readonly podExecutor: PodExecutor;
  readonly podAttacher: PodAttacher;
  /**
   * the service that callers outside of the host reach at an address or name; undefined if it does not belong to the
   * host
   */
  outside(host: string, port: number): PortService | undefined;
  /** reports whether a name or address belongs to this host, even if nothing listens there */
  knows(host: string): boolean;
  ready(): CheckResult;
  /** rejects when a controller fails permanently */
  readonly failed: Promise<void>;
  /** stops all Pods; objects and volumes stay for the next start */
  stop(): Promise<void>;
}

const defaultNodeName = 'capstan';

/** Registers the node and starts everything that runs Pods. Resolves when its caches are synced. */
export async function startPodHost(options: PodHostOptions, signal?: AbortSignal): Promise<PodHost> {
  const { client, log, sockets, range: usual = usualRange, gateways = true, nodeName = defaultNodeName } = options;
  const range = await hostRange({ client, log, sockets, usual, gateways, nodeName });
  try {
    const host = await startAt(hostAddresses(range), options, signal);
    return {
      ...host,
      async stop() {
        await host.stop();
        await range.release();
      },
    };
  } catch (error) {
    await range.release();
    throw error;
  }
}

async function startAt(addresses: HostAddresses, options: PodHostOptions, signal?: AbortSignal): Promise<PodHost> {
  const { client, clock, random, log, metrics, nodeName = defaultNodeName, version = 'v1.34.0+capstan' } = options;
  const { node: nodeAddress, ingress: ingressAddress } = addresses;
  const { guest } = options;
  const manager = createManager({ client, clock, random, log, instance: nodeName, ...(metrics && { metrics }) });
  const table = serviceTable(manager.cache);
  const view = options.gateways === false ? undefined : gatewayView(manager.cache);
  const hosts = view ? gatewayHosts({ view, services: table, clock, ingressAddress, network: () => network }) : noHosts;
  let pods: RunningPods | undefined;
  const network: HostNetwork = createHostNetwork({
    table,
    hosts,
    pods: () => pods ?? nothingRuns,
    nodeAddresses: new Set([nodeAddress, '127.0.0.1']),
    ...(options.managementApi && { managementApi: options.managementApi }),
  });
  const backend = options.backend({ network, nodeAddress });
  const sockets = options.sockets ? hostSockets(network, log) : noSockets;
  const book = addressBook(sockets, addresses);
  const node: RegistrationOptions = {
    client,
    clock,
    lease: guest ? kubeletLease : embeddedLease,
    facts: {
      name: nodeName,
      address: nodeAddress,
      runtime: backend.name,
      version,
      ...(guest && { machineId: guest.machineId, taints: guest.taints, labels: simulatedLabels }),
    },
  };
  const contents = guest ? namedContents(manager.cache) : cachedContents(manager.cache);
  const references = podReferences(manager.cache, contents);
  const logs = options.logDirectory === undefined ? undefined : logFiles(options.logDirectory);
  const running = podController({
    references,
    contents,
    backend,
    client,
    clock,
    nodeName,
    nodeAddress,
    allocatable: nodeResources,
    ...(logs && { logs }),
  });
  pods = running.pods;
  const provisioners: Provisioners = { [directoryProvisionerName]: directoryProvisioner(backend) };
  const controllers = [
    nodeLeaseController(node),
    running.controller,
    loadBalancerController({ book, sockets, table, nodeAddress, cidr: addresses.cidr }),
    ...(view ? gatewayControllers(view, book, table, addresses) : []),
    ...(guest ? externalProvisionerControllers({ provisioners, nodeName }) : wholeKubernetes(references, provisioners)),
  ];
  for (const controller of controllers) manager.add(controller);
  await registerNode(node);
  // On another Kubernetes, whoever installs the node's RBAC rules also creates these objects.
  if (!guest) await ensureObject(client, StorageClasses, standardStorageClass);
  if (view && !guest) {
    await ensureObject(client, IngressClasses, standardIngressClass);
    await ensureObject(client, GatewayClasses, standardGatewayClass);
  }
  const stop = new AbortController();
  const working = manager.run(signal ? AbortSignal.any([stop.signal, signal]) : stop.signal);
  await Promise.race([manager.whenReady(signal), working]);
  // Removes the logs of Pods that were deleted while the host was down.
  logs?.keepOnly(
    new Set(
      manager.reader
        .lister(Pods)
        .list()
        .map(({ metadata }) => metadata.uid ?? ''),
    ),
  );
  return {
    network,
    address: nodeAddress,
    cidr: addresses.cidr,
    findPod: (namespace, name) => manager.reader.lister(Pods).get({ namespace, name }),
    podLogs: podLogSource(running.pods, clock, logs),
    podConnector: podPortConnector(running.pods),
    podExecutor: podCommandRunner(running.pods),
    podAttacher: podAttacher(running.pods),
    outside: (host, port) => {
      const address = isIP(host) ? host : hosts.addresses(host)[0];
      return address !== undefined && addresses.owns(address) ? network.dial(host, port) : undefined;
    },
    knows: (host) =>
      isIP(host) ? addresses.owns(host) || table.isHeldByOther(host) : network.resolve(host).length > 0,
    ready: () => manager.ready(),
    failed: working,
    async stop() {
      stop.abort();
      await working;
      await sockets.closeAll();
      await running.pods.stop();
      await logs?.settled();
      if (guest) await leaveNode({ ...node, client: guest.administrator }, manager.reader.lister(Pods).size > 0);
    },
  };
}

/** Controllers that a Kubernetes cluster has besides its nodes. */
function wholeKubernetes(references: PodReferences, provisioners: Provisioners): ControllerDefinition[] {
  return [
    schedulerController({
      announces: true,
      concurrency: 8,
      waitsFor: (pod) => references.unboundClaim(pod),
      watches: [watchMapped(PersistentVolumeClaims, (claim) => references.podsOf('claim', claim))],
    }),
    ...workloadControllers({ provisioners }),
  ];
}

function gatewayControllers(
  view: GatewayView,
  book: AddressBook,
  table: ServiceTable,
  { ingress, cidr }: HostAddresses,
): ControllerDefinition[] {
  return [
    gatewayClassController(),
    gatewayController({ view, book, cidr, isHeldByOther: (address) => table.isHeldByOther(address) }),
    tlsRouteController(view, table),
    ingressController(view, book, ingress),
  ];
}

/** Creates an object that users expect. Later changes by users are kept. */
async function ensureObject<T extends KubeObject>(client: Client, resource: Resource<T>, object: T): Promise<void> {
  await client.create(resource, object, { fieldManager: 'capstan' }).catch((error: unknown) => {
    if (!isAlreadyExists(error)) throw error;
  });
}

/** Shows people and schedulers that Pods do not really run on the node. */
export const simulatedLabels: Readonly<Record<string, string>> = { 'capstan.dev/simulated': 'true' };

const nothingRuns: Pick<RunningPods, 'service'> = { service: () => 'absent' };
const noHosts: NamedHosts = { addresses: () => [], at: () => undefined, owns: () => false };
