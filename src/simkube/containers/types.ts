import type { Duplex } from 'node:stream';
import type { PortService } from '../types.ts';

// Where the host of Pods meets what runs their containers: simulated programs, or real ones.

/** Which Pod it is. The uid tells a Pod from its successor of the same name. */
export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly hostname: string;
  /** shares the address of the node */
  readonly hostNetwork: boolean;
  /** the address it had before the host was started anew; kept when it is still free */
  readonly address?: string;
  /** further names, as in a hosts file */
  readonly hostAliases: ReadonlyMap<string, string>;
}

/** A file as a Secret, a ConfigMap, the downward API or a token brings it. */
export interface VolumeFile {
  readonly content: Buffer;
  readonly mode: number;
}

/** What is mounted into containers. */
export type Volume =
  /** follows its objects: `setVolumes` is called on the sandbox again when they change */
  | { readonly kind: 'files'; readonly name: string; readonly files: ReadonlyMap<string, VolumeFile> }
  /** a directory the back end made: of the Pod (an emptyDir), or of a claim that outlives it */
  | { readonly kind: 'directory'; readonly name: string; readonly directory: string };

export interface Mount {
  readonly volume: string;
  readonly path: string;
  readonly subPath?: string;
  readonly readOnly: boolean;
}

/** One run of one container: everything is resolved, nothing is looked up any more. */
export interface ContainerRun {
  readonly name: string;
  readonly image: string;
  /** undefined: what the image starts by itself */
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** whether its input is kept open for somebody who may attach */
  readonly stdin?: boolean;
  readonly mounts: readonly Mount[];
  /** ports its spec declares; informational, as in life */
  readonly ports: readonly number[];
  /** what its spec adds to the usual capabilities, and takes from them */
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
}

export interface ContainerExit {
  readonly exitCode: number;
  readonly signal?: number;
  /** in the words of whoever ended it: Completed, Error, OOMKilled */
  readonly reason: string;
  readonly message?: string;
}

export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Somebody in front of a command. */
export interface ExecSession {
  /** what they type; absent: nothing */
  readonly stdin?: AsyncIterable<Buffer>;
  /** at a terminal: what they type is shown to them, and lines end as terminals want it */
  readonly tty: boolean;
  out(text: string): void;
}

/** A container that was started. */
export interface RunningContainer {
  /** settles once, however it ended; never rejects */
  readonly exited: Promise<ContainerExit>;
  /** what it said so far, oldest first, each line with its time; `onLine` tells of more */
  logs(): readonly LogLine[];
  onLine(callback: (line: LogLine) => void): () => void;
  /** with a session its output is shown there as it comes, and not told again at the end */
  exec(command: readonly string[], signal: AbortSignal, session?: ExecSession): Promise<ExecResult>;
  /** a file as the container sees it, also after its end */
  readFile?(path: string): string | undefined;
  /** asks it to end, and ends it when the grace is over */
  stop(graceMs: number): Promise<void>;
}

export interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** Why a container cannot be started: the reason a kubelet shows while it waits (ErrImagePull, InvalidImageName …). */
export class ContainerRefusedError extends Error {
  readonly reason: string;
  constructor(reason: string, message: string) {
    super(message);
    this.name = 'ContainerRefusedError';
    this.reason = reason;
  }
}

export interface HttpGetOptions {
  readonly port: number;
  readonly path: string;
  readonly scheme: 'HTTP' | 'HTTPS';
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** The place of one Pod: its address, its volumes, its containers. */
export interface PodSandbox {
  readonly address: string;
  /** all volumes of the Pod; called again when files changed */
  setVolumes(volumes: readonly Volume[]): Promise<void>;
  /** throws ContainerRefusedError */
  start(run: ContainerRun): Promise<RunningContainer>;
  /** what answers at a port of the Pod; undefined: nobody listens */
  service(port: number): PortService | undefined;
  /** a byte stream to a port; throws an error with the code ECONNREFUSED */
  connect(port: number): Duplex;
  /** an HTTP(S) GET for a probe, certificates unchecked; the status code */
  httpGet(options: HttpGetOptions): Promise<number>;
  /** ends all its containers and gives the address back */
  remove(): Promise<void>;
}

/** What runs the containers of Pods. */
export interface PodBackend {
  /** shown to users as the container runtime of the node, NAME://VERSION */
  readonly name: string;
  createSandbox(identity: PodIdentity): Promise<PodSandbox>;
  /** makes a directory that outlives Pods; answers its handle, the same again for the same name */
  createDirectory(name: string, options: { capacityBytes: number }): Promise<string>;
  /** removes it with all that is in it; not an error when it is gone already */
  removeDirectory(directory: string): Promise<void>;
  /** ends everything that runs; directories stay */
  close(): Promise<void>;
}

/** Ways to what runs on the host, for callers in this process; over sockets the same addresses lead there. */
export interface HostNetwork {
  /**
   * Addresses of a name as a Pod of the namespace would resolve it: a Service, a Pod of a headless Service, a host of an
   * Ingress or a Gateway. Empty: unknown.
   */
  resolve(name: string, namespace?: string): readonly string[];
  /**
   * What a connection to a name or an address meets: a Pod, a cluster IP, the address of a load balancer, a port of the
   * node. Throws an error with a `code` such as ENOTFOUND, ECONNREFUSED or EHOSTUNREACH when nothing answers.
   */
  dial(host: string, port: number, namespace?: string): PortService;
}
