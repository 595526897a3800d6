import type { Server } from '../compute/servers/types.ts';
import type { OpenStackError } from '../errors/openstack-error.ts';
import type { LoadBalancer } from '../load-balancer/load-balancers.ts';
import type { FloatingIp } from '../network/floating-ips.ts';
import type { Network } from '../network/networks.ts';
import type { Port } from '../network/ports/types.ts';
import type { Router } from '../network/routers.ts';
import type { SecurityGroup } from '../network/security-groups.ts';
import type { Volume } from '../volume/volumes.ts';

/** Observable resource types. */
export interface ObservedTypes {
  server: Server;
  port: Port;
  volume: Volume;
  loadBalancer: LoadBalancer;
  floatingIp: FloatingIp;
  network: Network;
  router: Router;
  securityGroup: SecurityGroup;
}

export type ObservedType = keyof ObservedTypes;

export const observedTypes: readonly ObservedType[] = [
  'server',
  'port',
  'volume',
  'loadBalancer',
  'floatingIp',
  'network',
  'router',
  'securityGroup',
];

/** A difference from the last known state. */
export type Change<T> =
  | { readonly change: 'added'; readonly id: string; readonly now: T; readonly before: undefined }
  | { readonly change: 'changed'; readonly id: string; readonly now: T; readonly before: T }
  /** `before` is undefined if it was already gone in the first list */
  | { readonly change: 'removed'; readonly id: string; readonly now: undefined; readonly before: T | undefined };

export type ChangeListener<T> = (change: Change<T>) => void;

/** Poll intervals in milliseconds. */
export interface ObservationIntervals {
  /** while nothing is in progress; default 60 s */
  readonly quietMs: number;
  /** the same for types that rarely change and are slow to list: networks, routers, security groups; default 2 min */
  readonly seldomMs: number;
  /** while something with a waiting subscriber is in progress; default 2 s */
  readonly busyMs: number;
  /** limit of the busy interval, which grows while nothing changes; default 10 s */
  readonly busyMaxMs: number;
  /** complete list, if the service can also list only changes; default 10 min */
  readonly completeMs: number;
  /** maximum duration of a close watch that is never ended; default 60 min */
  readonly closeWatchMs: number;
  /** maximum backoff after failures; default 5 min */
  readonly failureMaxMs: number;
}

export const defaultIntervals: ObservationIntervals = {
  quietMs: 60_000,
  seldomMs: 120_000,
  busyMs: 2_000,
  busyMaxMs: 10_000,
  completeMs: 600_000,
  closeWatchMs: 3_600_000,
  failureMaxMs: 300_000,
};

/** State of the observation of a type. */
export interface ObservationHealth {
  readonly observing: boolean;
  /** whether a complete list was read since the observation began */
  readonly synced: boolean;
  /** last success, ms since the epoch */
  readonly lastSuccess: number | undefined;
  /** present error */
  readonly error: OpenStackError | Error | undefined;
}
