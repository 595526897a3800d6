import type { MachinePace } from './cloud-timings.ts';
import type { FleetShape } from './fleet.ts';

/** Flags of the benchmarks that make a fleet of clusters on a simulated cloud; each says its own defaults where they differ. */
export const fleetFlags = {
  clusters: { type: 'string', default: '1' },
  'control-planes': { type: 'string', default: '1' },
  workers: { type: 'string', default: '2' },
  /** from a server's creation to its operating system, in seconds */
  boot: { type: 'string', default: '10' },
  /** etcd, the API server and the registration of a node take this long each, in seconds */
  step: { type: 'string', default: '2' },
  /** share by which every one of these times varies; without any, the cloud's own time is known and told */
  jitter: { type: 'string', default: '0.2' },
  /** how long the fleet may take, in seconds */
  patience: { type: 'string', default: '1200' },
  /** measure on another management API, with the processes whose cost counts */
  kubeconfig: { type: 'string' },
  pid: { type: 'string', multiple: true, default: [] as string[] },
} as const;

interface FleetFlags {
  clusters: string;
  'control-planes': string;
  workers: string;
  boot: string;
  step: string;
  jitter: string;
}

/** How many clusters of which size. */
export function fleetShape(flags: FleetFlags, prefix: string): FleetShape {
  return {
    prefix,
    clusters: Number(flags.clusters),
    controlPlanes: Number(flags['control-planes']),
    workers: Number(flags.workers),
  };
}

/** What a fleet is called in the figures: `50 x 1+2`. */
export function fleetKind({ clusters, controlPlanes, workers }: FleetShape): string {
  return `${clusters} x ${controlPlanes}+${workers}`;
}

export function machinePace({ boot, step, jitter }: FleetFlags): MachinePace {
  return { boot: Number(boot), step: Number(step), jitter: Number(jitter) };
}
