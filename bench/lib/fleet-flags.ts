import type { MachinePace } from './cloud-timings.ts';
import type { FleetShape } from './fleet.ts';

/**
 * Flags of the benchmarks that create a fleet of clusters on a simulated cloud. Some benchmarks have other defaults.
 */
export const fleetFlags = {
  clusters: { type: 'string', default: '1' },
  'control-planes': { type: 'string', default: '1' },
  workers: { type: 'string', default: '2' },
  /** from the creation of a server to its operating system, in seconds */
  boot: { type: 'string', default: '10' },
  /** duration of each: etcd, the API server, and the registration of a node, in seconds */
  step: { type: 'string', default: '2' },
  /** relative variation of all these times; without variation the cloud's own time is known and reported */
  jitter: { type: 'string', default: '0.2' },
  /** time limit of the fleet, in seconds */
  patience: { type: 'string', default: '1200' },
  /** measure another management API, with the processes whose CPU time counts */
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

/** Number and size of the clusters. */
export function fleetShape(flags: FleetFlags, prefix: string): FleetShape {
  return {
    prefix,
    clusters: Number(flags.clusters),
    controlPlanes: Number(flags['control-planes']),
    workers: Number(flags.workers),
  };
}

/** Name of a fleet in the figures, for example `50 x 1+2`. */
export function fleetKind({ clusters, controlPlanes, workers }: FleetShape): string {
  return `${clusters} x ${controlPlanes}+${workers}`;
}

export function machinePace({ boot, step, jitter }: FleetFlags): MachinePace {
  return { boot: Number(boot), step: Number(step), jitter: Number(jitter) };
}
