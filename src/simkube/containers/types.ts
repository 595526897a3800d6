import type { Duplex } from 'node:stream';
import type { PortService } from '../types.ts';

// Interface between the Pod host and its container backend: simulated programs, or real ones.

/** Identity of a Pod. The uid distinguishes it from a successor of the same name. */
export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly hostname: string;
  /** shares the address of the node */
  readonly hostNetwork: boolean;
  /** the address before a restart of the host; kept if it is still free */
  readonly address?: string;
  /** additional names, as in a hosts file */
  readonly hostAliases: ReadonlyMap<string, string>;
}

/** A file from a Secret, a ConfigMap, the downward API or a token. */
export interface VolumeFile {
  readonly content: Buffer;
  readonly mode: number;
}

/** A volume of a Pod. */
export type Volume =
  /** follows its objects: `setVolumes` is called again when they change */
  | { readonly kind: 'files'; readonly name: string; readonly files: ReadonlyMap<string, VolumeFile> }
  /** a directory created by the backend: of the Pod (an emptyDir), or of a claim that outlives the Pod */
  | { readonly kind: 'directory'; readonly name: string; readonly directory: string };

export interface Mount {
  readonly volume: string;
  readonly path: string;
  readonly subPath?: string;
  readonly readOnly: boolean;
}

/** Settings of one run of a container, with all references resolved. */
export interface ContainerRun {
  readonly name: string;
  readonly image: string;
  /** default: the program of the image */
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** whether stdin stays open for clients that attach */
  readonly stdin?: boolean;
  readonly mounts: readonly Mount[];
  /** declared ports; informational, as in Kubernetes */
  readonly ports: readonly number[];
  /** capabilities added and dropped by the spec */
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
}

export interface ContainerExit {
  readonly exitCode: number;
  readonly signal?: number;
  /** Completed, Error or OOMKilled, for example */
  readonly reason: string;
  readonly message?: string;
}

export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Interactive session of a command. */
export interface ExecSession {
  /** input; absent: none */
  readonly stdin?: AsyncIterable<Buffer>;
  /** terminal mode: input is echoed, and line ends are converted */
  readonly tty: boolean;
  out(text: string): void;
}

export interface RunningContainer {
  /** settles once at exit; never rejects */
  readonly exited: Promise<ContainerExit>;
  /** log lines so far, oldest first, with timestamps; `onLine` delivers further ones */
  logs(): readonly LogLine[];
  onLine(callback: (line: LogLine) => void): () => void;
  /** with a session, output goes there as it is produced and is not part of the result */
  exec(command: readonly string[], signal: AbortSignal, session?: ExecSession): Promise<ExecResult>;
  /** returns a file as the container sees it, also after its exit */
  readFile?(path: string): string | undefined;
  /** asks the container to exit, and kills it after the grace period */
  stop(graceMs: number): Promise<void>;
}

export interface LogLine {
  readonly at: number;
  readonly text: string;
}

/** A container that cannot be started, with the waiting reason of a kubelet (ErrImagePull, InvalidImageName, …). */
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

/** Sandbox of one Pod: its address, volumes and containers. */
export interface PodSandbox {
  readonly address: string;
  /** sets all volumes of the Pod; called again when files change */
  setVolumes(volumes: readonly Volume[]): Promise<void>;
  /** Throws ContainerRefusedError. */
  start(run: ContainerRun): Promise<RunningContainer>;
  /** the service at a port of the Pod; undefined if nobody listens */
  service(port: number): PortService | undefined;
  /** opens a stream to a port; throws an error with the code ECONNREFUSED */
  connect(port: number): Duplex;
  /** sends an HTTP(S) GET for a probe without verifying certificates; returns the status code */
  httpGet(options: HttpGetOptions): Promise<number>;
  /** stops all containers and releases the address */
  remove(): Promise<void>;
}

/** Runs the containers of Pods. */
export interface PodBackend {
  /** shown as the container runtime of the node, NAME://VERSION */
  readonly name: string;
  createSandbox(identity: PodIdentity): Promise<PodSandbox>;
  /** creates a directory that outlives Pods; returns its handle, which is the same for the same name */
  createDirectory(name: string, options: { capacityBytes: number }): Promise<string>;
  /** removes a directory with its content; not an error if it does not exist */
  removeDirectory(directory: string): Promise<void>;
  /** stops all containers; directories stay */
  close(): Promise<void>;
}

/**
 * Routes to programs on the host for callers in this process. Over sockets, the same addresses have the same targets.
 */
export interface HostNetwork {
  /**
   * Resolves a name like a Pod of the namespace: a Service, a Pod of a headless Service, a host of an Ingress or
   * Gateway. Empty if unknown.
   */
  resolve(name: string, namespace?: string): readonly string[];
  /**
   * Returns the target of a connection to a name or address: a Pod, a cluster IP, the address of a load balancer, a
   * port of the node. Throws an error with a `code` such as ENOTFOUND, ECONNREFUSED or EHOSTUNREACH if there is none.
   */
  dial(host: string, port: number, namespace?: string): PortService;
}
