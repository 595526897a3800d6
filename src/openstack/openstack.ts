import { type Clock, type PeerPolicy, type Random, systemClock, systemRandom } from '../machinery/index.ts';
import { type Compute, createCompute } from './compute/compute.ts';
import type { CloudConfig } from './config/cloud-config.ts';
import type { Environment } from './config/environment.ts';
import type { ServiceType } from './config/service-types.ts';
import type { RequestObservation } from './http/exchange.ts';
import { createLimiter, type Limiter } from './http/limiter.ts';
import { type Log, silentLog } from './http/log.ts';
import { defaultPatience, type Patience } from './http/retry.ts';
import { ServiceClient } from './http/service-client.ts';
import { createIdentity, type Identity } from './identity/identity.ts';
import { createSession, type Session, sessionSeenBy } from './identity/session.ts';
import { createImage, type ImageService } from './image/image.ts';
import { createLoadBalancer, type LoadBalancerService } from './load-balancer/load-balancer.ts';
import { createNetwork, type NetworkService } from './network/network.ts';
import type { Transport } from './transport/types.ts';
import { httpTransport } from './transport/undici.ts';
import { createVolume, type VolumeService } from './volume/volume.ts';

/** One cloud, as one project sees it. */
export interface OpenStack {
  readonly config: CloudConfig;
  readonly clock: Clock;
  readonly identity: Identity;
  readonly compute: Compute;
  readonly network: NetworkService;
  readonly image: ImageService;
  readonly volume: VolumeService;
  readonly loadBalancer: LoadBalancerService;
  /** the id of the project the token is for; empty when it is for none */
  projectId(signal?: AbortSignal): Promise<string>;
  /** drops connections that are this one's alone */
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** how requests travel; HTTP over sockets when absent */
  readonly transport?: Transport;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  /** variables that name proxies; the process's when absent */
  readonly env?: Environment;
  /** requests under way at a time, per cloud; default 16 */
  readonly concurrency?: number;
  readonly patience?: Partial<Patience>;
  /** longest wait for one answer when clouds.yaml says nothing; default 60 s */
  readonly timeoutMs?: number;
  /** the longest wait clouds.yaml may ask for; default: any */
  readonly maxTimeoutMs?: number;
  /** which addresses may be asked, where a tenant names them; default: any */
  readonly peers?: PeerPolicy;
  /** default `capstan` */
  readonly userAgent?: string;
  /** is told of every attempt */
  readonly onRequest?: (observation: RequestObservation) => void;
  /** asked whenever a request is about to be sent, again when it is repeated; what it throws is the outcome */
  readonly permit?: () => void;
}

export const defaultConcurrency = 16;
const defaultTimeoutMs = 60_000;

/** Connects to a cloud. Nothing is sent before the first call; whoever shares a credential should share a `SessionPool`. */
export function connect(config: CloudConfig, options: ConnectOptions = {}): OpenStack {
  const concurrency = options.concurrency ?? defaultConcurrency;
  const transport =
    options.transport ??
    httpTransport({
      tls: config.tls,
      env: options.env ?? process.env,
      connections: concurrency,
      peers: options.peers,
    });
  return openStackOver(openSession(config, options, transport, createLimiter(concurrency)), config);
}

export function openSession(
  config: CloudConfig,
  options: ConnectOptions,
  transport: Transport,
  limiter: Limiter,
): Session {
  return createSession(config, {
    transport,
    limiter,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom,
    log: options.log ?? silentLog,
    patience: { ...defaultPatience, ...options.patience },
    timeoutMs: Math.min(
      config.timeoutMs ?? options.timeoutMs ?? defaultTimeoutMs,
      options.maxTimeoutMs ?? Number.POSITIVE_INFINITY,
    ),
    userAgent: options.userAgent ?? 'capstan',
    onRequest: options.onRequest,
    permit: options.permit,
  });
}

export function openStackOver(shared: Session, config: CloudConfig): OpenStack {
  const session = sessionSeenBy(shared, config);
  const service = (type: ServiceType): ServiceClient => new ServiceClient(type, session, config);
  return {
    config,
    clock: session.clock,
    identity: createIdentity(service('identity'), session.tokens),
    compute: createCompute(service('compute')),
    network: createNetwork(service('network')),
    image: createImage(service('image')),
    volume: createVolume(service('volume')),
    loadBalancer: createLoadBalancer(service('load-balancer')),
    async projectId(signal) {
      return (await session.tokens.current(signal)).info.project?.id ?? '';
    },
    close: async () => {},
  };
}
