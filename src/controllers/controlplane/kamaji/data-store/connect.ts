import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { type DataStore, type Pod, Pods, Services } from '../../../../api/index.ts';
import type { Client, ObjectKey } from '../../../../client/index.ts';
import type { Clock } from '../../../../machinery/index.ts';
import type { CacheReader } from '../../../../runtime/index.ts';
import { explain } from '../../../shared/index.ts';
import { etcdClient } from '../../etcd-client/client.ts';
import { openGrpcChannel } from '../../etcd-client/grpc.ts';
import { pooledEtcd } from '../../etcd-client/pool.ts';
import { secureStream } from '../../etcd-client/secure-stream.ts';
import { type EtcdAdministrator, EtcdError } from '../../etcd-client/types.ts';
import { type OpenPlaneEtcd, planeEtcd } from '../../plane-driver/etcd/connect.ts';
import type { KamajiDependencies } from '../scope.ts';
import { isManaged } from './default-store.ts';
import { readValue, type StoreValue, storeSecrets } from './places.ts';

/** Opens a byte stream to a host outside the management cluster. */
export type DialEndpoint = (host: string, port: number, signal: AbortSignal) => Promise<Duplex>;

/** Connects to any member of a DataStore's etcd as root. */
export type OpenStore = (store: DataStore, systemNamespace: string, signal: AbortSignal) => Promise<EtcdAdministrator>;

/** Runs a function with a connection to a DataStore's etcd, and closes it afterwards. */
export async function useStore(
  open: OpenStore,
  [store, systemNamespace, signal]: Parameters<OpenStore>,
  use: (etcd: EtcdAdministrator) => Promise<void>,
): Promise<void> {
  const etcd = await open(store, systemNamespace, signal);
  try {
    await use(etcd);
  } finally {
    etcd.close();
  }
}

interface OutsideTarget {
  readonly host: string;
  readonly port: number;
  readonly trust: string;
  readonly certificate: string;
  readonly privateKey: string;
}

const timeoutMs = 5_000;
const callTimeoutMs = 30_000;

/** Connects to members inside the management cluster through their Pods, and to others directly. */
export function storeConnector(dependencies: KamajiDependencies, client: Client, clock: Clock): OpenStore {
  const { cache } = dependencies;
  const inside: OpenPlaneEtcd = dependencies.etcd ?? planeEtcd(dependencies.connectPod, clock);
  const dial = dependencies.dial ?? dialTcp;
  const outside = pooledEtcd(
    async ({ host, port, trust, certificate, privateKey }: OutsideTarget, signal: AbortSignal) => {
      const stream = await dial(host, port, signal);
      const security = { authority: trust, certificate, privateKey, serverName: host, alpn: ['h2'], clock, timeoutMs };
      const socket = await secureStream(stream, security, signal);
      return etcdClient(openGrpcChannel({ stream: socket, authority: host, clock, callTimeoutMs }));
    },
    ({ host, port, certificate }) => `${host}:${port} ${certificate}`,
    clock,
  );

  return async (store, systemNamespace, signal) => {
    const secrets = await storeSecrets({ client, cache, signal }, store, systemNamespace);
    const value = (name: StoreValue): string => {
      const text = readValue(store, name, systemNamespace, secrets);
      if (text === undefined) throw new EtcdError(`DataStore ${store.metadata.name} has no ${name} yet`);
      return text;
    };
    const shown = { trust: value('ca.crt'), certificate: value('tls.crt'), privateKey: value('tls.key') };
    const problems: string[] = [];
    for (const endpoint of store.spec.endpoints) {
      const { host, port } = parseEndpoint(endpoint);
      try {
        const pod = podBehind(cache, host);
        if (!pod) return await outside({ host, port, ...shown }, signal);
        return await inside({ pod, serverName: isManaged(store) ? 'localhost' : host, ...shown }, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        problems.push(`${endpoint}: ${explain(error)}`);
      }
    }
    throw new EtcdError(`no member of DataStore ${store.metadata.name} can be reached: ${problems.join('; ')}`);
  };
}

function parseEndpoint(endpoint: string): { host: string; port: number } {
  const colon = endpoint.lastIndexOf(':');
  return { host: endpoint.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(endpoint.slice(colon + 1)) };
}

/** Finds the Pod of a cluster-internal host name, `pod.service.namespace.svc…` or `service.namespace.svc…`. */
function podBehind(cache: CacheReader, host: string): ObjectKey | undefined {
  const labels = host.split('.');
  const svc = labels.indexOf('svc');
  const namespace = labels[svc - 1];
  const [name] = labels;
  if (svc < 2 || namespace === undefined || name === undefined) return undefined;
  if (svc === 3) return { namespace, name };
  const selector = cache.lister(Services).get({ namespace, name })?.spec.selector;
  if (!selector) return undefined;
  const [pod] = cache.lister(Pods).list({ namespace, filter: (candidate) => isBehind(candidate, selector) });
  return pod && { namespace, name: pod.metadata.name ?? '' };
}

function isBehind({ metadata, status }: Pod, selector: Readonly<Record<string, string>>): boolean {
  const isReady = status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') === true;
  return isReady && Object.entries(selector).every(([key, value]) => metadata.labels?.[key] === value);
}

const dialTcp: DialEndpoint = (host, port, signal) =>
  new Promise((resolve, reject) => {
    const socket = connectTcp({ host, port, signal });
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
