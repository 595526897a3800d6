import { type Node, Nodes, type Pod, Pods, Services } from '../../../../api/index.ts';
import {
  type Client,
  createInformer,
  dropManagedFields,
  type Informer,
  sharedSignal,
} from '../../../../client/index.ts';
import { type Clock, type Random, sleep } from '../../../../machinery/index.ts';
import type { ClusterNode, PortService, ServiceRoute } from '../../../../simkube/index.ts';
import type { KubeletHome } from './home.ts';
import { MountedObjects } from './mounted-objects.ts';

export interface FollowedApiOptions {
  /** client with the kubelet's credentials */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
}

const heartbeatMs = 10_000;

/**
 * A cluster in another process, used like a real kubelet does: it watches its Pods and its Node, and has a heartbeat
 * timer of its own.
 */
export class FollowedApi implements KubeletHome {
  readonly #options: FollowedApiOptions;
  #apiAddress: string | undefined;
  #following: { readonly node: ClusterNode; readonly stop: AbortController; readonly own: Informer<Node> } | undefined;

  constructor(options: FollowedApiOptions) {
    this.#options = options;
  }

  addNode(node: ClusterNode): void {
    if (this.#following) return;
    const { client, clock, random } = this.#options;
    const stop = new AbortController();
    const signal = sharedSignal(stop.signal);
    const common = { client, clock, random };
    const pods = createInformer({
      ...common,
      resource: Pods,
      fieldSelector: `spec.nodeName=${node.name}`,
      transform: dropManagedFields<Pod>,
    });
    pods.addHandler({
      onAdd: (pod) => node.podChanged(pod),
      onUpdate: (pod) => node.podChanged(pod),
      onDelete: ({ metadata: { namespace = '', name = '' } }) => node.podChanged({ deleted: true, namespace, name }),
    });
    const own = createInformer({
      ...common,
      resource: Nodes,
      fieldSelector: `metadata.name=${node.name}`,
      transform: dropManagedFields<Node>,
    });
    own.addHandler({
      onUpdate: (object) => {
        if (isGivenUp(object)) void node.heartbeat();
      },
    });
    this.#following = { node, stop, own };
    void this.#learnApiAddress(signal);
    void pods.run(signal);
    void own.run(signal);
    const mounted = new MountedObjects(client, node);
    this.#beat(node, signal, () => mounted.look(pods.lister.list(), signal)).catch(() => undefined);
  }

  removeNode(node: ClusterNode): void {
    if (this.#following?.node !== node) return;
    this.#following.stop.abort();
    this.#following = undefined;
  }

  renewLease(): boolean {
    return false;
  }

  wasDeclaredDead(name: string): boolean {
    const node = this.#following?.own.lister.get({ name });
    return node !== undefined && isGivenUp(node);
  }

  /** Resolves only the Service address of the API. Other Services would need a watch in every node. */
  serviceRoute(host: string): ServiceRoute | undefined {
    return host === this.#apiAddress ? { kind: 'api' } : undefined;
  }

  /** Pods of other nodes are reachable only through the network. */
  podService(address: string, port: number): PortService | undefined {
    return this.#following?.node.podService(address, port);
  }

  /** Nothing to do: the state is read from the Node. */
  forgetDeclaredDead(): void {}

  /** Retries until it knows the address of the API Service, which the Pods of the node use too. */
  async #learnApiAddress(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    while (!signal.aborted && this.#apiAddress === undefined) {
      try {
        const service = await client.get(Services, { namespace: 'default', name: 'kubernetes' });
        this.#apiAddress = service.spec.clusterIP;
      } catch {
        await sleep(clock, heartbeatMs, signal).catch(() => undefined);
      }
    }
  }

  async #beat(node: ClusterNode, signal: AbortSignal, look: () => Promise<void>): Promise<void> {
    for (;;) {
      await sleep(this.#options.clock, heartbeatMs, signal);
      await node.heartbeat();
      await look();
    }
  }
}

/** Reports whether the node controller has set the Node to Unknown. */
function isGivenUp({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: ready }) => type === 'Ready' && ready === 'Unknown') ?? false;
}
