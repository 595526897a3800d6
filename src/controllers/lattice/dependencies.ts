import type { Clock } from '../../machinery/index.ts';
import type { SessionPool } from '../../openstack/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import type { ApplyOnce, ServedKinds } from '../shared/index.ts';
import type { AddonRenderer } from './addons.ts';
import type { CloudMemory } from './cloud/memory.ts';

/** What the controller of LatticeClusters works with. */
export interface LatticeDependencies {
  readonly cache: CacheReader;
  readonly clock: Clock;
  readonly sessions: SessionPool;
  /** kinds of the management API */
  readonly kinds: ServedKinds;
  readonly applied: ApplyOnce;
  readonly render: AddonRenderer;
  /** what clouds answered */
  readonly memory: CloudMemory;
  readonly watchFilter?: string;
  readonly concurrency?: number;
}
