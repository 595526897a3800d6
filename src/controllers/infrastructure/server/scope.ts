import { type OpenStackServer, type OpenStackServerStatus, OpenStackServers } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { setVerdict, type Verdict, writeObject } from '../../shared/index.ts';
import type { Followed } from '../common/attention.ts';
import type { CloudAccess } from '../common/clouds.ts';
import { type ObservedState, observedStateOf } from '../common/observed-state.ts';
import type { ServerMemory } from './memory.ts';

/**
 * State of one reconcile of a server: the inputs, the draft that is written at the end, and the cloud resources to
 * follow.
 */
export interface ServerScope {
  readonly context: ReconcileContext;
  readonly key: ObjectKey;
  /** as stored; replaced on every save */
  original: OpenStackServer;
  /** private copy that the phases change; written by `save` */
  readonly server: OpenStackServer;
  readonly cloud: CloudAccess;
  readonly observedState: ObservedState;
  /** owner id in the marks of the server's cloud resources */
  readonly owner: string;
  /** taken over from upstream's provider: unmarked resources with the server's names belong to it, too */
  readonly isBegunByUpstream: boolean;
  readonly memory: ServerMemory;
  /** cloud resources to follow after this reconcile */
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

/** Stores the draft, so that its progress survives a crash. */
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

export function judge(scope: Pick<ServerScope, 'server' | 'context'>, type: string, verdict: Verdict): void {
  updateStatus(scope.server, {});
  // the call above created the status
  setVerdict(scope.server as { status?: object }, type, verdict, scope.context.clock.now());
}
