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

export interface LatticeDependencies {
  readonly cache: CacheReader;
  readonly clock: Clock;
  readonly sessions: SessionPool;
  /** kinds served by the management API */
  readonly kinds: ServedKinds;
  readonly applied: ApplyOnce;
  readonly render: AddonRenderer;
  /** cached cloud answers */
  readonly memory: CloudMemory;
  /** support for clusters that manage themselves; without it their objects stay here */
  readonly self?: SelfManagement;
  /** connection from this cluster to its parent */
  readonly parent?: ParentLink;
  readonly watchFilter?: string;
  readonly concurrency?: number;
}

/** What self-management of a cluster needs. */
export interface SelfManagement {
  readonly access: ChildAccess;
  readonly installer: ChildInstaller;
  readonly random: Random;
  /** endpoints that clusters dial; without it the parent dials the clusters */
  readonly cell?: Cell;
}
