import type { Duplex } from 'node:stream';
import { type Clock, must, type Random, sleep } from '../../machinery/index.ts';
import { duplexPair } from '../cluster/duplex-pair.ts';
import type { SimulatedProcess, SimulatedProgram } from '../process.ts';
import type { PortService } from '../types.ts';
import { refusedByKernel } from './capabilities.ts';
import { startContainer } from './container.ts';
import { containerFiles, type MountedVolume } from './container-files.ts';
import type { FileTree } from './file-tree.ts';
import { httpGetOver } from './http-get.ts';
import { idleProgram } from './idle-program.ts';
import { checkImage, imageFiles, imageProgramName } from './images.ts';
import type { PodTimings } from './timings.ts';
import type {
  ContainerRun,
  HostNetwork,
  HttpGetOptions,
  PodIdentity,
  PodSandbox,
  RunningContainer,
  Volume,
} from './types.ts';

/** State shared by all simulated Pods of a node. */
export interface SandboxParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly timings: PodTimings;
  readonly network: HostNetwork;
  /** program of an image and command line; undefined for the default program */
  readonly programs: (image: string, argv: readonly string[]) => SimulatedProgram | undefined;
  /** the files of an existing directory */
  tree(directory: string): FileTree;
  /** called with the content of files that no container can access again */
  filesRemoved(contents: Iterable<string>): void;
}

const ownNames: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost', '0.0.0.0']);

/** A Pod whose containers are programs of this process. */
export class SimulatedSandbox implements PodSandbox {
  readonly address: string;
  readonly #identity: PodIdentity;
  readonly #parts: SandboxParts;
  /** shared by all Pods with host network */
  readonly #ports: Map<number, PortService>;
  readonly #onRemove: () => void;
  readonly #volumes = new Map<string, MountedVolume>();
  readonly #containers = new Set<RunningContainer>();
  readonly #pulled: Set<string>;
  #isRemoved = false;

  constructor(options: {
    identity: PodIdentity;
    address: string;
    parts: SandboxParts;
    ports: Map<number, PortService>;
    /** images on the node */
    pulled: Set<string>;
    onRemove(): void;
  }) {
    this.#identity = options.identity;
    this.address = options.address;
    this.#parts = options.parts;
    this.#ports = options.ports;
    this.#pulled = options.pulled;
    this.#onRemove = options.onRemove;
  }

  async setVolumes(volumes: readonly Volume[]): Promise<void> {
    this.#volumes.clear();
    for (const volume of volumes) {
      this.#volumes.set(
        volume.name,
        volume.kind === 'files'
          ? { kind: 'files', files: volume.files }
          : { kind: 'tree', tree: this.#parts.tree(volume.directory) },
      );
    }
  }

  async start(run: ContainerRun): Promise<RunningContainer> {
    const { clock, timings, programs } = this.#parts;
    checkImage(run.image);
    if (!this.#pulled.has(run.image)) {
      await sleep(clock, timings.pull);
      this.#pulled.add(run.image);
    }
    await sleep(clock, typeof timings.start === 'number' ? timings.start : timings.start());
    // The caller may be gone as well, and then nobody would ever stop this container.
    if (this.#isRemoved) throw new Error(`the sandbox of ${this.#identity.hostname} was removed meanwhile`);
    const argv = commandLine(run);
    const files = containerFiles(run.mounts, (name) => this.#volumes.get(name), imageFiles(run.image));
    const environment = {
      env: { HOSTNAME: this.#identity.hostname, ...run.env },
      image: run.image,
      hostname: this.#identity.hostname,
      namespace: this.#identity.namespace,
      address: this.address,
      files,
      clock,
      random: this.#parts.random,
      resolve: (host: string) => this.#resolve(host),
      dial: (host: string, port: number) => this.#dial(host, port),
    };
    const container = startContainer({
      program: refusedByKernel(run) ?? programs(run.image, argv) ?? idleProgram(run.ports),
      process: { ...environment, argv, ...(run.stdin && { hasOpenInput: true }) },
      commands: (command) => programs(run.image, command),
      execMs: timings.exec,
      listen: (port, service) => this.#listen(port, service),
      ended: () => {
        this.#containers.delete(container);
        this.#parts.filesRemoved(ownContents(files, run));
      },
    });
    this.#containers.add(container);
    return container;
  }

  service(port: number): PortService | undefined {
    return this.#ports.get(port);
  }

  connect(port: number): Duplex {
    const service = this.#ports.get(port);
    if (!service) throw unreachable('ECONNREFUSED', this.address, port);
    const [near, far] = duplexPair();
    service.accept(far);
    return near;
  }

  async httpGet(options: HttpGetOptions): Promise<number> {
    const service = this.#ports.get(options.port);
    if (!service) throw unreachable('ECONNREFUSED', this.address, options.port);
    // Probes are most of the traffic of idle Pods, so they skip the HTTP exchange if the program allows it.
    if (service.get) return (await service.get(options.path)).status;
    return httpGetOver(this.connect(options.port), options);
  }

  async remove(): Promise<void> {
    this.#isRemoved = true;
    await Promise.all([...this.#containers].map((container) => container.stop(0)));
    this.#onRemove();
  }

  #listen(port: number, service: PortService): () => void {
    if (this.#ports.has(port)) {
      throw Object.assign(new Error(`listen tcp ${this.address}:${port}: bind: address already in use`), {
        code: 'EADDRINUSE',
      });
    }
    this.#ports.set(port, service);
    return () => {
      if (this.#ports.get(port) === service) this.#ports.delete(port);
    };
  }

  #resolve(host: string): readonly string[] {
    const { hostname, namespace, hostAliases } = this.#identity;
    if (ownNames.has(host)) return ['127.0.0.1'];
    if (host === hostname) return [this.address];
    const alias = hostAliases.get(host);
    return alias === undefined ? this.#parts.network.resolve(host, namespace) : [alias];
  }

  #dial(host: string, port: number): PortService {
    const { hostname, namespace, hostAliases } = this.#identity;
    const address = hostAliases.get(host) ?? host;
    if (ownNames.has(address) || address === this.address || address === hostname) {
      const own = this.#ports.get(port);
      if (own) return own;
      throw unreachable('ECONNREFUSED', address, port);
    }
    return this.#parts.network.dial(address, port, namespace);
  }
}

/** Builds the error of a failed connection. */
export function unreachable(code: string, host: string, port: number): Error & { code: string } {
  const words = code === 'ECONNREFUSED' ? 'connection refused' : code;
  return Object.assign(new Error(`dial tcp ${host}:${port}: connect: ${words}`), { code });
}

/** Returns the whole command line. If an image gets only flags, its default program is used. */
function commandLine({ image, command, args }: ContainerRun): string[] {
  if (command && command.length > 0) return [...command, ...args];
  return args.length > 0 && !must(args[0], 'the first of args').startsWith('-')
    ? [...args]
    : [imageProgramName(image), ...args];
}

/** Returns the contents of files outside of mounts. */
function ownContents(files: SimulatedProcess['files'], { mounts }: ContainerRun): string[] {
  const isMounted = (path: string): boolean =>
    mounts.some((mount) => path === mount.path || path.startsWith(`${mount.path}/`));
  return files.list('/').flatMap((path) => (isMounted(path) ? [] : [files.read(path) ?? '']));
}
