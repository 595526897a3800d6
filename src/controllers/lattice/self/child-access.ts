import type { Duplex } from 'node:stream';
import { type LatticeCluster, latticeNamespace, type Secret, Secrets } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { type ConnectWorkload, clusterSecretName, type WorkloadApi } from '../../shared/index.ts';
import type { Session } from '../link/session.ts';
import { latticeClusterLabel, latticeFieldManager } from '../names.ts';
import { ensureAccessNamespace } from './access-namespace.ts';
import { accessName, accessNamespace } from './names.ts';
import { stageOf } from './stage.ts';

const by = { fieldManager: latticeFieldManager };
const dataKey = 'value';

interface Open {
  readonly text: string;
  /** stream used by the connection; undefined if the address in the kubeconfig is dialed */
  readonly session: Session | undefined;
  readonly api: WorkloadApi;
}

/** Streams that clusters keep open to this parent. */
export interface Streams {
  session(cluster: string): Session | undefined;
  connectOver(dial: () => Promise<Duplex>): ConnectWorkload;
}

/** Clients of self-managed clusters, one each while its kubeconfig stays the same. */
export class ChildAccess {
  readonly #connect: ConnectWorkload;
  readonly #open = new Map<string, Open>();

  readonly #streams: Streams;

  constructor(connect: ConnectWorkload, streams: Streams) {
    this.#connect = connect;
    this.#streams = streams;
  }

  /** Tells whether the cluster is reached through its own stream. */
  isOverStream(name: string): boolean {
    return this.#open.get(name)?.session !== undefined;
  }

  /** Returns undefined if no kubeconfig of the cluster is stored here. */
  async client({ client, signal }: ReconcileContext, cluster: LatticeCluster): Promise<Client | undefined> {
    const { name = '' } = cluster.metadata;
    const key = stageOf(cluster) === 'here' ? ownKey(name) : accessKey(name);
    const text = textOf(await client.get(Secrets, key, { signal }).catch(ignoreNotFound));
    if (text === undefined) return undefined;
    const known = this.#open.get(name);
    const session = this.#streams.session(name);
    if (known?.text === text && known.session === session) return known.api.client;
    this.#close(name);
    const connect = session ? this.#streams.connectOver(() => session.dial()) : this.#connect;
    const api = await connect(text, { namespace: latticeNamespace(name), name });
    this.#open.set(name, { text, session, api });
    return api.client;
  }

  /**
   * Stores the kubeconfig as read through `from`. The Secret next to the Cluster moves with it and is renewed there.
   */
  async keep({ client, signal }: ReconcileContext, { metadata }: LatticeCluster, from: Client): Promise<void> {
    const { name = '' } = metadata;
    const text = textOf(await from.get(Secrets, ownKey(name), { signal }).catch(ignoreNotFound));
    if (text === undefined) return;
    const key = accessKey(name);
    const live = await client.get(Secrets, key, { signal }).catch(ignoreNotFound);
    if (textOf(live) === text) return;
    const data = { [dataKey]: Buffer.from(text, 'utf8').toString('base64') };
    if (live) {
      await client.patch(Secrets, key, 'merge', { data }, { ...by, signal });
      return;
    }
    await ensureAccessNamespace(client, signal);
    // no owner reference: foreground deletion would delete the Secret before the cluster was taken back
    const secret: Secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...key, labels: { [latticeClusterLabel]: name } },
      type: 'cluster.x-k8s.io/secret',
      data,
    };
    await client.create(Secrets, secret, { ...by, signal });
  }

  async forget({ client, signal }: ReconcileContext, { metadata }: LatticeCluster): Promise<void> {
    const { name = '' } = metadata;
    this.#close(name);
    const live = await client.get(Secrets, accessKey(name), { signal }).catch(ignoreNotFound);
    if (live?.metadata.labels?.[latticeClusterLabel] !== name) return;
    await client.delete(Secrets, accessKey(name), { signal }).catch(ignoreNotFound);
  }

  close(): void {
    for (const name of [...this.#open.keys()]) this.#close(name);
  }

  #close(name: string): void {
    const known = this.#open.get(name);
    this.#open.delete(name);
    if (known) void Promise.resolve(known.api.close()).catch(() => {});
  }
}

const accessKey = (cluster: string): { namespace: string; name: string } => ({
  namespace: accessNamespace,
  name: accessName(cluster),
});

const ownKey = (cluster: string): { namespace: string; name: string } => ({
  namespace: latticeNamespace(cluster),
  name: clusterSecretName(cluster, 'kubeconfig'),
});

function textOf(secret: Secret | undefined): string | undefined {
  const value = secret?.data?.[dataKey];
  return value === undefined ? undefined : Buffer.from(value, 'base64').toString('utf8');
}
