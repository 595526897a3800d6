import { type Node, Nodes, type Pod, Pods } from '../../../../api/index.ts';
import {
  type Client,
  createInformer,
  dropManagedFields,
  type Informer,
  sharedSignal,
} from '../../../../client/index.ts';
import { type Clock, type Random, sleep } from '../../../../machinery/index.ts';
import type { ClusterNode, PortService } from '../../../../simkube/index.ts';
import type { KubeletHome } from './home.ts';

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
    void pods.run(signal);
    void own.run(signal);
    this.#beat(node, signal).catch(() => undefined);
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

  /** Nobody follows Services here: a node of another process's API would have to watch them for each of its Pods. */
  serviceRoute(): undefined {
    return undefined;
  }

  /** Pods of other nodes are reached through the network, where there is one. */
  podService(address: string, port: number): PortService | undefined {
    return this.#following?.node.podService(address, port);
  }

  /** The Node itself says it. */
  forgetDeclaredDead(): void {}

  async #beat(node: ClusterNode, signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(this.#options.clock, heartbeatMs, signal);
      await node.heartbeat();
    }
  }
}

/** Whether the controller of Nodes has not heard of it for too long. */
function isGivenUp({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: ready }) => type === 'Ready' && ready === 'Unknown') ?? false;
}
