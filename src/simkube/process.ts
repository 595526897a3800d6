import type { Clock, Random } from '../machinery/index.ts';
import type { PortService } from './types.ts';

// Where a program of a simulated Kubernetes meets what it runs in: a container of a Pod today, whatever comes later.

/** The files a program sees: its image's own few, and what is mounted over them. */
export interface ProcessFiles {
  read(path: string): string | undefined;
  /** throws an error with the code EROFS below a read-only mount */
  write(path: string, content: string, mode?: number): void;
  remove(path: string): void;
  /** paths that begin with the prefix, sorted */
  list(prefix: string): string[];
}

/** A program while it runs. */
export interface SimulatedProcess {
  /** the whole command line, the program's own name first */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** with registry and tag, as the container names it */
  readonly image: string;
  readonly hostname: string;
  readonly namespace: string;
  /** of the Pod */
  readonly address: string;
  readonly files: ProcessFiles;
  readonly clock: Clock;
  readonly random: Random;
  /** aborted when it is to end */
  readonly signal: AbortSignal;
  /** one line of its log */
  log(line: string): void;
  /** what it is given to read, piece by piece; absent: nothing */
  readonly input?: AsyncIterable<string>;
  /** its input stays open though nobody writes to it: who reads commands from there waits */
  readonly hasOpenInput?: boolean;
  /** somebody sits in front of it: what is shown to them needs not be a whole line */
  readonly screen?: (text: string) => void;
  /** Serves a port of the Pod until the program ends. Answers how to stop earlier. Throws EADDRINUSE. */
  listen(port: number, service: PortService): () => void;
  /** What a connection to a name or an address meets; throws an error with a `code` when nothing answers. */
  dial(host: string, port: number): PortService;
  /** waits on the clock; rejects when the program is to end */
  pass(ms: number): Promise<void>;
}

/** What a command line starts. Resolves with the exit code. */
export type SimulatedProgram = (process: SimulatedProcess) => Promise<number>;
