import { createHash } from 'node:crypto';
import type { Core } from '../core/core.ts';
import type { RequestContext } from '../core/http/context.ts';
import { notFound } from '../core/wrapped-refusals.ts';
import { type ComputeTables, declareComputeTables, type Server } from './tables.ts';

/** State of nova, shared by its parts. */
export interface Compute extends ComputeTables {
  readonly core: Core;
  /** the server of the request: one of the caller's project, or any server for an administrator */
  server(context: RequestContext): Readonly<Server>;
  change(id: string, changes: Partial<Omit<Server, 'id'>>): Readonly<Server>;
  record(server: Readonly<Server>, action: string, context: RequestContext): void;
  /** marks the newest action of a server as finished, or as failed with a message */
  finishAction(serverId: string, message: string | null): void;
  hostIdOf(projectId: string, host: string): string;
}

export function createCompute(core: Core): Compute {
  const tables = declareComputeTables(core.state);
  const hostIds = new Map<string, string>();
  return {
    ...tables,
    core,
    server(context) {
      const id = context.param('id');
      const server = tables.servers.get(id);
      const { caller } = context;
      if (!server || (server.projectId !== caller.projectId && !caller.isAdmin)) {
        throw notFound(`Instance ${id} could not be found.`);
      }
      return server;
    },
    change(id, changes) {
      // The caller passes a fresh object, so it can be changed in place. A copy would cost more than the update.
      (changes as { updatedAt?: number }).updatedAt = core.now();
      return tables.servers.update(id, changes);
    },
    record(server, action, { requestId, caller }) {
      tables.actions.insert({
        id: core.ids.uuid(),
        serverId: server.id,
        action,
        requestId,
        userId: caller.userId,
        projectId: server.projectId,
        startedAt: core.now(),
        finishedAt: undefined,
        message: null,
      });
    },
    finishAction(serverId, message) {
      let newest: string | undefined;
      for (const { id } of tables.actions.by('server', serverId)) newest = id;
      if (newest !== undefined) tables.actions.update(newest, { finishedAt: core.now(), message });
    },
    hostIdOf(projectId, host) {
      const key = projectId + host;
      let id = hostIds.get(key);
      if (id === undefined) {
        id = createHash('sha224').update(key).digest('hex');
        hostIds.set(key, id);
      }
      return id;
    },
  };
}
