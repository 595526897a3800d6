import { errorMessage, type JsonObject, type UnstructuredObject } from '../../machinery/index.ts';

/** Somebody at the other end of a container: what they type, and what they are shown. */
export interface PodSession {
  readonly container: string;
  /** absent: they send nothing */
  readonly stdin?: AsyncIterable<Buffer>;
  /** they sit at a terminal: everything is shown on one screen */
  readonly tty: boolean;
  /** aborted when they have gone */
  readonly signal: AbortSignal;
  out(text: string): void;
  error(text: string): void;
}

/** A command to be run in a container. */
export interface PodCommand extends PodSession {
  readonly command: readonly string[];
}

/** Whoever runs the Pods runs commands in them; answers with the exit code. */
export type PodExecutor = (pod: UnstructuredObject, command: PodCommand) => Promise<number>;

/** Shows what a container says from now on, until it ends. */
export type PodAttacher = (pod: UnstructuredObject, session: PodSession) => Promise<void>;

/** Which streams a client asked for. */
export interface SessionSpec {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** What is done with a session once its streams are there; answers with the exit code. */
export type RunSession = (session: Omit<PodSession, 'container'>) => Promise<number>;

/** Throws what a kubelet says of streams that cannot be. */
export function readSessionSpec(query: URLSearchParams): SessionSpec {
  const flag = (name: string): boolean => query.get(name) === 'true' || query.get(name) === '1';
  const tty = flag('tty');
  // A terminal has one screen.
  return { stdin: flag('stdin'), stdout: flag('stdout'), stderr: flag('stderr') && !tty, tty };
}

/** How a session ended, as a Status. */
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
