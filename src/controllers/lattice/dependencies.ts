import type { Clock, Random } from '../../machinery/index.ts';
import type { SessionPool } from '../../openstack/index.ts';
import type { CacheReader } from '../../runtime/index.ts';
import type { ApplyOnce, ServedKinds } from '../shared/index.ts';
import type { AddonRenderer } from './addons.ts';
import type { CloudMemory } from './cloud/memory.ts';
import type { ParentLink } from './link/agent-controller.ts';
import type { Cell } from './link/cell.ts';
import type { ChildAccess } from './self/child-access.ts';
import type { ChildInstaller } from './self/installer.ts';

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
  /** what clusters need to take over their own objects; absent: they stay here */
  readonly self?: SelfManagement;
  /** the way from the cluster we run in to its parent */
  readonly parent?: ParentLink;
  readonly watchFilter?: string;
  readonly concurrency?: number;
}

/** What it takes to let a cluster manage itself. */
export interface SelfManagement {
  readonly access: ChildAccess;
  readonly installer: ChildInstaller;
  readonly random: Random;
  /** where clusters dial in; absent: they are dialled */
  readonly cell?: Cell;
}
