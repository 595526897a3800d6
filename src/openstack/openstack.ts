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

/** A cloud from the view of one project. */
export interface OpenStack {
  readonly config: CloudConfig;
  readonly clock: Clock;
  readonly identity: Identity;
  readonly compute: Compute;
  readonly network: NetworkService;
  readonly image: ImageService;
  readonly volume: VolumeService;
  readonly loadBalancer: LoadBalancerService;
  /** id of the token's project; empty if the token has none */
  projectId(signal?: AbortSignal): Promise<string>;
  /** closes connections that are not shared */
  close(): Promise<void>;
}

export interface ConnectOptions {
  /** transport of requests; default: HTTP over sockets */
  readonly transport?: Transport;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly log?: Log;
  /** variables that name proxies; default: those of the process */
  readonly env?: Environment;
  /** maximum concurrent requests per cloud; default 16 */
  readonly concurrency?: number;
  readonly patience?: Partial<Patience>;
  /** timeout of one response unless clouds.yaml sets it; default 60 s */
  readonly timeoutMs?: number;
  /** limit for timeouts in clouds.yaml; default: unlimited */
  readonly maxTimeoutMs?: number;
  /** which tenant-specified addresses may be contacted; default: any */
  readonly peers?: PeerPolicy;
  /** default `capstan` */
  readonly userAgent?: string;
  /** called after every attempt */
  readonly onRequest?: (observation: RequestObservation) => void;
  /** called before every attempt, including retries; an exception becomes the result */
  readonly permit?: () => void;
}

export const defaultConcurrency = 16;
const defaultTimeoutMs = 60_000;

/**
 * Connects to a cloud. Sends nothing before the first call. Users who share a credential should share a `SessionPool`.
 */
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
