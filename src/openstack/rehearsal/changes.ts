import type { ServerGroup } from '../compute/server-groups.ts';
import type { Server } from '../compute/servers/types.ts';
import type { HealthMonitor } from '../load-balancer/health-monitors.ts';
import type { Listener } from '../load-balancer/listeners.ts';
import type { LoadBalancer } from '../load-balancer/load-balancers.ts';
import type { Member } from '../load-balancer/members.ts';
import type { Pool } from '../load-balancer/pools.ts';
import type { FloatingIp } from '../network/floating-ips.ts';
import type { Network } from '../network/networks.ts';
import type { Port } from '../network/ports/types.ts';
import type { Router } from '../network/routers.ts';
import type { SecurityGroupRule } from '../network/security-group-rules.ts';
import type { SecurityGroup } from '../network/security-groups.ts';
import type { Subnet } from '../network/subnets.ts';
import type { Trunk } from '../network/trunks.ts';
import type { Volume } from '../volume/volumes.ts';

/** Resources that a rehearsal can create, change and delete. */
export interface RehearsedTypes {
  network: Network;
  subnet: Subnet;
  router: Router;
  /** the port of a router on a subnet */
  routerInterface: Port;
  port: Port;
  trunk: Trunk;
  securityGroup: SecurityGroup;
  securityGroupRule: SecurityGroupRule;
  floatingIp: FloatingIp;
  server: Server;
  serverGroup: ServerGroup;
  volume: Volume;
  loadBalancer: LoadBalancer;
  listener: Listener;
  pool: Pool;
  healthMonitor: HealthMonitor;
  member: Member;
}

export type RehearsedType = keyof RehearsedTypes;

/** One change that would have been requested. */
export type CloudChange = {
  [K in RehearsedType]: {
    readonly action: 'create' | 'change' | 'delete';
    readonly type: K;
    /** state after the change; for deletions, state before it */
    readonly thing: RehearsedTypes[K];
    /** names of changed fields */
    readonly fields: readonly string[];
  };
}[RehearsedType];

/** Changes in the order of their requests. */
export interface Journal {
  readonly changes: readonly CloudChange[];
  note(change: CloudChange): void;
}

export function createJournal(): Journal {
  const changes: CloudChange[] = [];
  return { changes, note: (change) => void changes.push(change) };
}

/** Names of fields that differ between two states of a resource. */
export function changedFields(before: object, after: object): string[] {
  const values = (thing: object): Map<string, string> =>
    new Map(Object.entries(thing).map(([name, value]) => [name, JSON.stringify(value)]));
  const [was, is] = [values(before), values(after)];
  return [...new Set([...was.keys(), ...is.keys()])].filter((name) => was.get(name) !== is.get(name));
}
