import type { OpenStackServerStatus } from '../../../api/index.ts';

/** Resource types created for a server. */
export type Made = 'ports' | 'volumes' | 'server';

/** Memory about one server. Losing it costs requests, never a resource. */
export interface ServerMemory {
  /**
   * Types of which no resource with the server's mark can exist, because this process created the mark and has not
   * requested any since. An entry is removed before the first request, so that its result is looked up afterwards.
   */
  readonly untried: Set<Made>;
  /** the server that this process created and its ports, which may not be in the status yet */
  created?: Pick<OpenStackServerStatus, 'instanceID' | 'resources'>;
  /** volume ids by device name, while the server waits for them */
  readonly volumes: Map<string, string>;
  /** id and address of the floating IP from a pool */
  poolAddress?: { readonly address: string; readonly id: string };
  /** time of the last delete request to Nova */
  deletionAskedAt?: number;
  /** time Nova first answered 404 for a known server */
  missedSince?: number;
  /** the last server that failed to build, the number of failures, and when it is deleted */
  failedBuild?: { readonly id: string; readonly count: number; readonly removeAt: number };
}

/** Memories by uid. */
export interface ServerMemories {
  of(uid: string): ServerMemory;
  /** the mark of this server was just created */
  begin(uid: string): void;
  /** this process is about to create a server object with a new mark */
  expect(mark: string): void;
  /** true once for an expected mark: nothing was requested with it before */
  meets(mark: string): boolean;
  /** another process may have made resources of expected servers */
  expectNone(): void;
  forget(uid: string): void;
}

/** Bounds the memory if server objects cannot be created. */
const mostExpected = 1000;

export function createServerMemories(): ServerMemories {
  const memories = new Map<string, ServerMemory>();
  const expected = new Set<string>();
  const put = (uid: string, untried: readonly Made[]): ServerMemory => {
    const memory: ServerMemory = { untried: new Set(untried), volumes: new Map() };
    memories.set(uid, memory);
    return memory;
  };
  return {
    of: (uid) => memories.get(uid) ?? put(uid, []),
    begin: (uid) => void put(uid, ['ports', 'volumes', 'server']),
    expect(mark) {
      if (expected.size >= mostExpected) expected.clear();
      expected.add(mark);
    },
    meets: (mark) => expected.delete(mark),
    expectNone: () => expected.clear(),
    forget: (uid) => void memories.delete(uid),
  };
}
