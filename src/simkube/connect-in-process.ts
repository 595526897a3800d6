import type { Client } from '../client/index.ts';
import { mergeKubeconfigs, parseKubeconfig } from '../client/index.ts';
import { CapstanError } from '../machinery/index.ts';
import type { ApiCredentials, PortService, ReachableApi } from './types.ts';

/** Access to a workload API in the form controllers expect. */
export interface InProcessApi {
  readonly client: Client;
  /** resolves when the API answers; rejects with the reason otherwise */
  probe(signal: AbortSignal): Promise<void>;
  close(): void;
  /** opens a stream to a port of a Pod */
  portForward(pod: { namespace: string; name: string }, port: number): ReturnType<ReachableApi['portForward']>;
}

export interface Target {
  readonly address: string;
  readonly port: number;
  readonly credentials: ApiCredentials;
}

/**
 * Opens workload APIs of this process from a kubeconfig text without sockets. Every call is routed like a new
 * connection: `dial` returns the service at an address, and throws if there is none.
 */
export function connectThrough(
  dial: (address: string, port: number) => PortService,
): (kubeconfig: string) => Promise<InProcessApi> {
  return async (kubeconfig) => {
    const target = targetOf(kubeconfig);
    const { address, port, credentials } = target;
    let current: { api: ReachableApi; client: Client } | undefined;
    const reach = (): { api: ReachableApi; client: Client } => {
      const { api } = dial(address, port);
      if (!api) throw new Error(`what answers at ${address}:${port} is no Kubernetes API`);
      if (current?.api !== api) current = { api, client: api.connect(credentials) };
      return current;
    };
    return {
      client: rerouted(() => reach().client),
      async probe(signal) {
        signal.throwIfAborted();
        const { api } = reach();
        await api.raw('/readyz');
        signal.throwIfAborted();
      },
      close() {
        current = undefined;
      },
      portForward: async (pod, podPort) => reach().api.portForward(pod, podPort),
    };
  };
}

/** A client that looks up its target before every call. */
export function rerouted(way: () => Client): Client {
  // An unreachable target causes a rejection, as over a socket.
  const call =
    <A extends unknown[], R>(method: (client: Client, ...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> =>
      method(way(), ...args);
  return {
    get: call((client, ...args: Parameters<Client['get']>) => client.get(...args)) as Client['get'],
    list: call((client, ...args: Parameters<Client['list']>) => client.list(...args)) as Client['list'],
    create: call((client, ...args: Parameters<Client['create']>) => client.create(...args)) as Client['create'],
    update: call((client, ...args: Parameters<Client['update']>) => client.update(...args)) as Client['update'],
    patch: call((client, ...args: Parameters<Client['patch']>) => client.patch(...args)) as Client['patch'],
    apply: call((client, ...args: Parameters<Client['apply']>) => client.apply(...args)) as Client['apply'],
    delete: call((client, ...args: Parameters<Client['delete']>) => client.delete(...args)) as Client['delete'],
    deleteCollection: call((client, ...args: Parameters<Client['deleteCollection']>) =>
      client.deleteCollection(...args),
    ) as Client['deleteCollection'],
    createSubresource: call((client, ...args: Parameters<Client['createSubresource']>) =>
      client.createSubresource(...args),
    ) as Client['createSubresource'],
    watch: async function* (...args: Parameters<Client['watch']>) {
      yield* way().watch(...args);
    } as Client['watch'],
  };
}

/** Parses the address and user of a kubeconfig. */
export function targetOf(kubeconfig: string): Target {
  const name = 'of the workload cluster';
  const merged = mergeKubeconfigs([{ path: name, content: parseKubeconfig(kubeconfig, name) }]);
  const context = merged.contexts.get(merged.currentContext ?? '')?.value;
  const cluster = merged.clusters.get(context?.cluster ?? '')?.value;
  const user = merged.users.get(context?.user ?? '')?.value;
  const server = cluster?.server;
  if (server === undefined || !URL.canParse(server)) {
    throw new CapstanError('CAP_KUBECONFIG_ENTRY', 'the kubeconfig of the workload cluster names no server', {
      hint: 'its current context must lead to a cluster with an https:// address',
    });
  }
  const url = new URL(server);
  const address = url.hostname.replace(/^\[|\]$/g, '');
  const certificate = decoded(user?.['client-certificate-data']);
  const key = decoded(user?.['client-key-data']);
  return {
    address,
    port: Number(url.port) || 443,
    credentials: {
      certificateAuthority: decoded(cluster?.['certificate-authority-data']),
      ...(certificate !== undefined && key !== undefined && { clientCertificate: { certificate, key } }),
      ...(user?.token && { token: user.token }),
      serverName: cluster?.['tls-server-name'] || address,
    },
  };
}

function decoded(data: string | undefined): string | undefined {
  return data === undefined || data === '' ? undefined : Buffer.from(data, 'base64').toString('utf8');
}
