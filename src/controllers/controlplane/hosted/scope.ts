import type { Cluster, HostedControlPlane } from '../../../api/index.ts';
import type { ReconcileContext, Result } from '../../../runtime/index.ts';
import type { ExternalObjects, Follower } from '../../shared/index.ts';
import type { PlaneDependencies, PlaneDriver } from '../hosting/index.ts';

/** What the controller of HostedControlPlanes is given. */
export interface HostedDependencies extends PlaneDependencies {
  externals: ExternalObjects;
  watchFilter?: string;
  concurrency?: number;
}

/** One pass over one control plane: what was read, and the draft that will be written. */
export interface HostedScope {
  readonly context: ReconcileContext;
  readonly driver: PlaneDriver;
  readonly follower: Follower;
  readonly controlPlane: HostedControlPlane;
  /** private copy: steps change it, one place writes it */
  readonly draft: HostedControlPlane;
  readonly clusterName: string;
  /** undefined when it is gone and the control plane is on its way too */
  readonly cluster: Cluster | undefined;
}

export interface Outcome {
  readonly result: Result;
  /** to be thrown after the draft is written */
  readonly error?: unknown;
}
