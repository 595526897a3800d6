import type { Clock, Random } from '../machinery/index.ts';
import type { PortService } from './types.ts';

// Interface between programs of a simulated Kubernetes and their runtime, such as a container of a Pod.

/** Files visible to a program: those of its image, and mounts over them. */
export interface ProcessFiles {
  read(path: string): string | undefined;
  /** throws an error with the code EROFS below a read-only mount */
  write(path: string, content: string, mode?: number): void;
  remove(path: string): void;
  /** paths with the prefix, sorted */
  list(prefix: string): string[];
}

/** A running program. */
export interface SimulatedProcess {
  /** the whole command line, starting with the program name */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** with registry and tag, as in the container spec */
  readonly image: string;
  readonly hostname: string;
  readonly namespace: string;
  /** of the Pod */
  readonly address: string;
  readonly files: ProcessFiles;
  readonly clock: Clock;
  readonly random: Random;
  /** aborted when the program must exit */
  readonly signal: AbortSignal;
  /** writes one line to its log */
  log(line: string): void;
  /** standard input in chunks; absent: none */
  readonly input?: AsyncIterable<string>;
  /** input stays open without data, so a program that reads commands waits */
  readonly hasOpenInput?: boolean;
  /** interactive output, which may consist of partial lines */
  readonly screen?: (text: string) => void;
  /**
   * Listens on a port of the Pod until the program exits. Returns a function that closes it earlier. Throws EADDRINUSE.
   */
  listen(port: number, service: PortService): () => void;
  /** Resolves a name to addresses; empty if unknown. */
  resolve(host: string): readonly string[];
  /** Connects to a name or address; throws an error with a `code` if nothing answers. */
  dial(host: string, port: number): PortService;
  /** waits on the clock; rejects when the program must exit */
  pass(ms: number): Promise<void>;
}

/** A program. Resolves with the exit code. */
export type SimulatedProgram = (process: SimulatedProcess) => Promise<number>;
