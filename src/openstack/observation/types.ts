import type { Server } from '../compute/servers/types.ts';
import type { OpenStackError } from '../errors/openstack-error.ts';
import type { LoadBalancer } from '../load-balancer/load-balancers.ts';
import type { FloatingIp } from '../network/floating-ips.ts';
import type { Network } from '../network/networks.ts';
import type { Port } from '../network/ports/types.ts';
import type { Router } from '../network/routers.ts';
import type { SecurityGroup } from '../network/security-groups.ts';
import type { Volume } from '../volume/volumes.ts';

/** What can be observed. */
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

/** Something is different from what was last known. */
export type Change<T> =
  | { readonly change: 'added'; readonly id: string; readonly now: T; readonly before: undefined }
  | { readonly change: 'changed'; readonly id: string; readonly now: T; readonly before: T }
  /** `before` is unknown when it was gone already as the first list came */
  | { readonly change: 'removed'; readonly id: string; readonly now: undefined; readonly before: T | undefined };

export type ChangeListener<T> = (change: Change<T>) => void;

/** How often is looked, in milliseconds. */
export interface ObservationIntervals {
  /** when nothing is under way; default 60 s */
  readonly quietMs: number;
  /** the same for what hardly ever changes and is long to list: networks, routers, security groups; default 2 min */
  readonly seldomMs: number;
  /** while something somebody waits for is under way; default 2 s */
  readonly busyMs: number;
  /** a wait in vain makes each look later, up to this; default 10 s */
  readonly busyMaxMs: number;
  /** a complete list where the service can also tell changes alone; default 10 min */
  readonly completeMs: number;
  /** a close watch nobody ends is ended after this; default 60 min */
  readonly closeWatchMs: number;
  /** the longest pause after failures; default 5 min */
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

/** How observing a type goes. */
export interface ObservationHealth {
  readonly observing: boolean;
  /** whether a complete list was read since observing began */
  readonly synced: boolean;
  /** when it last worked, ms since the epoch */
  readonly lastSuccess: number | undefined;
  /** why it does not work at present */
  readonly error: OpenStackError | Error | undefined;
}
