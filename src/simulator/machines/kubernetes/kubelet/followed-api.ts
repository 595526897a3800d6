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
  /** with the credentials of the kubelet */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
}

const heartbeatMs = 10_000;

/** An API of another process, as a kubelet has it in life: it watches its Pods and its Node, and keeps time by itself. */
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

  /**
   * The API is found by its address in the cluster. Nobody follows the other Services here: a node of another process's API
   * would have to watch them for each of its Pods.
   */
  serviceRoute(host: string): ServiceRoute | undefined {
    return host === this.#apiAddress ? { kind: 'api' } : undefined;
  }

  /** Pods of other nodes are reached through the network, where there is one. */
  podService(address: string, port: number): PortService | undefined {
    return this.#following?.node.podService(address, port);
  }

  /** The Node itself says it. */
  forgetDeclaredDead(): void {}

  /** Asks until it is answered: Pods of the node are given the address, too. */
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

/** Whether the controller of Nodes has not heard of it for too long. */
function isGivenUp({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: ready }) => type === 'Ready' && ready === 'Unknown') ?? false;
}
