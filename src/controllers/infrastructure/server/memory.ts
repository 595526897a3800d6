/** Things that are made for a server. */
export type Made = 'ports' | 'volumes' | 'server';

/** What this process knows of one server beyond its object. Losing it costs requests, never a resource. */
export interface ServerMemory {
  /**
   * Nothing carries the server's mark yet, because the mark was coined by this very process and nothing of the kind was
   * asked for since. Taken away before the first request, so that whatever becomes of it is looked for afterwards.
   */
  readonly untried: Set<Made>;
  /** ids of volumes by name of the device, while the server waits for them */
  readonly volumes: Map<string, string>;
  /** id of the floating IP from a pool, with its address */
  poolAddress?: { readonly address: string; readonly id: string };
  /** when nova was last told to delete the server */
  deletionAskedAt?: number;
  /** when nova first denied a server that was there before */
  missedSince?: number;
  /** the last server that failed to build, how many did, and when it is to be taken away */
  failedBuild?: { readonly id: string; readonly count: number; readonly removeAt: number };
}

/** Memories by uid. */
export interface ServerMemories {
  of(uid: string): ServerMemory;
  /** the mark of this server was coined just now */
  begin(uid: string): void;
  forget(uid: string): void;
}

export function createServerMemories(): ServerMemories {
  const memories = new Map<string, ServerMemory>();
  const put = (uid: string, untried: readonly Made[]): ServerMemory => {
    const memory: ServerMemory = { untried: new Set(untried), volumes: new Map() };
    memories.set(uid, memory);
    return memory;
  };
  return {
    of: (uid) => memories.get(uid) ?? put(uid, []),
    begin: (uid) => void put(uid, ['ports', 'volumes', 'server']),
    forget: (uid) => void memories.delete(uid),
  };
}
