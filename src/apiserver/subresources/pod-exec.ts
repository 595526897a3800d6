import { errorMessage, type JsonObject, type UnstructuredObject } from '../../machinery/index.ts';

/** A client attached to a container: its input and output streams. */
export interface PodSession {
  readonly container: string;
  /** absent: the client sends no input */
  readonly stdin?: AsyncIterable<Buffer>;
  /** the client has a terminal, so stdout and stderr are combined */
  readonly tty: boolean;
  /** aborted when the client disconnects */
  readonly signal: AbortSignal;
  out(text: string): void;
  error(text: string): void;
}

export interface PodCommand extends PodSession {
  readonly command: readonly string[];
}

/** Runs a command in a container and resolves with its exit code. */
export type PodExecutor = (pod: UnstructuredObject, command: PodCommand) => Promise<number>;

/** Streams the further output of a container until it ends. */
export type PodAttacher = (pod: UnstructuredObject, session: PodSession) => Promise<void>;

export interface SessionSpec {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Runs a session once its streams are open and resolves with the exit code. */
export type RunSession = (session: Omit<PodSession, 'container'>) => Promise<number>;

/** Parses the streams of a session; throws a kubelet's error for invalid combinations. */
export function readSessionSpec(query: URLSearchParams): SessionSpec {
  const flag = (name: string): boolean => query.get(name) === 'true' || query.get(name) === '1';
  const tty = flag('tty');
  // A terminal has no separate stderr.
  return { stdin: flag('stdin'), stdout: flag('stdout'), stderr: flag('stderr') && !tty, tty };
}

/** Returns the outcome of a session as a Status. */
export async function outcomeOf(running: Promise<number>): Promise<JsonObject> {
  try {
    const exitCode = await running;
    return exitCode === 0 ? { metadata: {}, status: 'Success' } : failure(exitCode);
  } catch (error) {
    return { metadata: {}, status: 'Failure', reason: 'InternalError', message: errorMessage(error), code: 500 };
  }
}

function failure(exitCode: number): JsonObject {
  return {
    metadata: {},
    status: 'Failure',
    reason: 'NonZeroExitCode',
    message: `command terminated with exit code ${exitCode}`,
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}
