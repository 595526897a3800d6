import type { DiskStore } from '../core/contracts.ts';
import type { Compute } from './compute.ts';

/**
 * Stores the files of machines as rows. They are journalled like all state, so a machine finds its disk unchanged after
 * a restart.
 */
export function diskStore(compute: Compute): DiskStore {
  const { files, servers, core } = compute;
  const key = (serverId: string, path: string): string => `${serverId} ${path}`;
  return {
    file: (serverId, path) => files.get(key(serverId, path)),
    put(serverId, path, content, mode) {
      // A program may still write while its server is deleted.
      if (!servers.has(serverId)) return;
      const id = key(serverId, path);
      core.state.transact(() => {
        if (files.has(id)) files.update(id, { content, mode });
        else files.insert({ id, serverId, path, content, mode });
      });
    },
    remove(serverId, path) {
      core.state.transact(() => files.delete(key(serverId, path)));
    },
    paths: (serverId) => Array.from(files.by('server', serverId), ({ path }) => path),
    wipe: (serverId) => core.state.transact(() => wipeDisk(compute, serverId)),
  };
}

/** Removes every file of a server. Must run inside a transaction. */
export function wipeDisk({ files }: Compute, serverId: string): void {
  for (const { id } of [...files.by('server', serverId)]) files.delete(id);
}
