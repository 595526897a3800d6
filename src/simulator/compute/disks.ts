import type { DiskStore } from '../core/contracts.ts';
import type { Compute } from './compute.ts';

/** The files of machines as rows: journalled with everything else, so that a machine finds its disk as it left it. */
export function diskStore(compute: Compute): DiskStore {
  const { files, servers, core } = compute;
  const key = (serverId: string, path: string): string => `${serverId} ${path}`;
  return {
    file: (serverId, path) => files.get(key(serverId, path)),
    put(serverId, path, content, mode) {
      // A program may write while its server is being taken away.
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

/** Removes every file of a server; inside a transaction. */
export function wipeDisk({ files }: Compute, serverId: string): void {
  for (const { id } of [...files.by('server', serverId)]) files.delete(id);
}
