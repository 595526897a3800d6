import { type OpenStackServer, type OpenStackServerStatus, OpenStackServers } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { setVerdict, type Verdict, writeObject } from '../../shared/index.ts';
import type { Followed } from '../common/attention.ts';
import type { CloudAccess } from '../common/clouds.ts';
import { type ObservedState, observedStateOf } from '../common/observed-state.ts';
import type { ServerMemory } from './memory.ts';

/** One pass over one server: what was read, the draft that will be written, and what of the cloud is to be followed. */
export interface ServerScope {
  readonly context: ReconcileContext;
  readonly key: ObjectKey;
  /** as stored; moves on with every save */
  original: OpenStackServer;
  /** private copy: phases change it, `save` writes it */
  readonly server: OpenStackServer;
  readonly cloud: CloudAccess;
  readonly observedState: ObservedState;
  /** what the server's cloud resources are marked with */
  readonly owner: string;
  /** upstream's provider had begun with it: what it made by the server's names, without anybody's mark, is the server's, too */
  readonly isBegunByUpstream: boolean;
  readonly memory: ServerMemory;
  /** what the object depends on from now on */
  readonly follows: Followed[];
}

export function createScope(
  scope: Pick<
    ServerScope,
    'context' | 'key' | 'original' | 'server' | 'cloud' | 'owner' | 'isBegunByUpstream' | 'memory'
  >,
): ServerScope {
  return { ...scope, observedState: observedStateOf(scope.cloud.observer), follows: [] };
}

/** Stores what the draft says so far, so that nothing is forgotten whatever comes next. */
export async function save(scope: ServerScope): Promise<void> {
  scope.original = await writeObject(scope.context, OpenStackServers, scope.original, scope.server, {
    observed: false,
  });
  const { resourceVersion } = scope.original.metadata;
  if (resourceVersion !== undefined) scope.server.metadata.resourceVersion = resourceVersion;
}

export function updateStatus(server: OpenStackServer, changes: Partial<OpenStackServerStatus>): void {
  server.status = { ready: false, ...server.status, ...changes };
}

/** Sets a condition of a server's draft. */
export function judge(scope: Pick<ServerScope, 'server' | 'context'>, type: string, verdict: Verdict): void {
  updateStatus(scope.server, {});
  // the status was made complete just now
  setVerdict(scope.server as { status?: object }, type, verdict, scope.context.clock.now());
}
