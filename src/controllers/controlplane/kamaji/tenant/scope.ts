import type { TenantControlPlane } from '../../../../api/index.ts';
import type { ReconcileContext, Result } from '../../../../runtime/index.ts';
import type { Follower } from '../../../shared/index.ts';
import type { PlaneDriver } from '../../hosting/index.ts';
import type { PlaneWays } from '../../plane-ways.ts';
import type { OpenStore } from '../data-store/connect.ts';
import type { TenantFamily } from './family.ts';

/** One pass over one control plane: what was read, and the draft that will be written. */
export interface TenantScope extends TenantFamily {
  readonly context: ReconcileContext;
  readonly driver: PlaneDriver;
  readonly follower: Follower;
  readonly ways: PlaneWays;
  readonly open: OpenStore;
  readonly systemNamespace: string;
  readonly tenant: TenantControlPlane;
  readonly draft: TenantControlPlane;
}

export interface Outcome {
  readonly result: Result;
  /** to be thrown after the draft is written */
  readonly error?: unknown;
}
