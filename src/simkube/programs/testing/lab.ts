import { sharedSignal } from '../../../client/index.ts';
import { type Clock, ManualClock, type Random, seededRandom, sleep } from '../../../machinery/index.ts';
import { nullLogger } from '../../../runtime/index.ts';
import { runUntil } from '../../../runtime/testkit/index.ts';
import type { ChartSource } from '../../options.ts';
import type { ProcessFiles, SimulatedProcess } from '../../process.ts';
import type { PortService } from '../../types.ts';
import { simulatedProgram } from '../index.ts';
import { SimulatedKubernetes } from '../kubernetes.ts';

/** Pods without a host: tests start and stop them on a network where every name is a Pod's. */
export interface ProgramLab {
  readonly clock: Clock;
  readonly kubernetes: SimulatedKubernetes;
  /** creates a Pod, whose files stay when containers exit */
  pod(name: string, files?: Readonly<Record<string, string>>): LabPod;
  /** adds a name for several Pods, like a Service: the first that listens answers */
  name(name: string, ...pods: readonly LabPod[]): void;
  /** connects to a port; throws ECONNREFUSED */
  dial(name: string, port: number): PortService;
  /** advances time until the condition holds */
  until(condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  close(): Promise<void>;
}

export interface LabPod {
  readonly name: string;
  readonly files: Map<string, string>;
  /** output of its containers */
  readonly lines: string[];
  start(image: string, argv: readonly string[], env?: Readonly<Record<string, string>>): LabContainer;
  /** runs a program until it exits; returns the exit code and output */
  exec(image: string, ...argv: readonly string[]): Promise<{ code: number; lines: string[] }>;
}

export interface LabContainer {
  readonly exited: Promise<number>;
  /** undefined while running */
  exitCode(): number | undefined;
  stop(): Promise<number>;
}

export interface ProgramLabOptions {
  readonly clock?: Clock;
  readonly directory?: string;
  readonly seed?: number;
  readonly charts?: ChartSource;
}

/** Poll interval of a lab with real time. */
const pollMs = 10;

export function createProgramLab(options: ProgramLabOptions = {}): ProgramLab {
  const clock = options.clock ?? new ManualClock();
  const random = seededRandom(options.seed ?? 5);
  const { directory } = options;
  const kubernetes = new SimulatedKubernetes({
    clock,
    random,
    log: nullLogger,
    ...(directory !== undefined && { directory }),
    ...(options.charts && { charts: options.charts }),
  });
  const pods = new Map<string, LabPodState>();
  const names = new Map<string, readonly LabPod[]>();
  const dial = (name: string, port: number): PortService => {
    const targets = names.get(name) ?? [...pods.values()].filter((pod) => pod.name === name);
    for (const target of targets) {
      const service = pods.get(target.name)?.ports.get(port);
      if (service) return service;
    }
    throw Object.assign(new Error(`connect ECONNREFUSED ${name}:${port}`), { code: 'ECONNREFUSED' });
  };
  /** every Pod has an address for names, although it is reached by its own */
  const resolve = (name: string): readonly string[] => {
    const targets = new Set((names.get(name) ?? []).map((pod) => pod.name));
    return [...pods.keys()].flatMap((pod, at) => (pod === name || targets.has(pod) ? [`10.0.0.${at + 1}`] : []));
  };
  return {
    clock,
    kubernetes,
    pod(name, files = {}) {
      const pod = new LabPodState({
        name,
        clock,
        random,
        kubernetes,
        dial,
        resolve,
        files: new Map(Object.entries(files)),
      });
      pods.set(name, pod);
      return pod;
    },
    name: (name, ...targets) => void names.set(name, targets),
    dial,
    async until(condition, limitMs = 120_000) {
      if (clock instanceof ManualClock) {
        await runUntil(clock, condition, { limitMs });
        return;
      }
      const deadline = clock.now() + limitMs;
      while (!(await condition())) {
        if (clock.now() > deadline) throw new Error('the condition never held');
        await sleep(clock, pollMs);
      }
    },
    async close() {
      for (const pod of pods.values()) pod.stopAll();
      await kubernetes.close();
    },
  };
}

interface PodParts {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly kubernetes: SimulatedKubernetes;
  readonly files: Map<string, string>;
  dial(name: string, port: number): PortService;
  resolve(name: string): readonly string[];
}

class LabPodState implements LabPod {
  readonly name: string;
  readonly files: Map<string, string>;
  readonly lines: string[] = [];
  readonly ports = new Map<number, PortService>();
  readonly #parts: PodParts;
  readonly #stops = new Set<AbortController>();

  constructor(parts: PodParts) {
    this.#parts = parts;
    this.name = parts.name;
    this.files = parts.files;
  }

  start(image: string, argv: readonly string[], env: Readonly<Record<string, string>> = {}): LabContainer {
    return this.#run(image, argv, env, this.lines);
  }

  async exec(image: string, ...argv: readonly string[]): Promise<{ code: number; lines: string[] }> {
    const lines: string[] = [];
    const code = await this.#run(image, argv, {}, lines).exited;
    return { code, lines };
  }

  stopAll(): void {
    for (const stop of this.#stops) stop.abort(new Error('terminated'));
  }

  #run(image: string, argv: readonly string[], env: Readonly<Record<string, string>>, lines: string[]): LabContainer {
    const { clock, random, kubernetes, dial, resolve } = this.#parts;
    const program = simulatedProgram(image, argv, kubernetes);
    if (!program) throw new Error(`nobody knows what ${image} ${argv.join(' ')} is`);
    const stop = new AbortController();
    sharedSignal(stop.signal);
    this.#stops.add(stop);
    const process: SimulatedProcess = {
      argv,
      env,
      image,
      hostname: this.name,
      namespace: 'default',
      address: this.name,
      files: filesOf(this.files),
      clock,
      random,
      signal: stop.signal,
      log: (line) => void lines.push(line),
      listen: (port, service) => this.#listen(port, service),
      resolve,
      dial: (host, port) => (host === 'localhost' || host === '127.0.0.1' ? dial(this.name, port) : dial(host, port)),
      pass: (ms) => sleep(clock, ms, stop.signal),
    };
    let code: number | undefined;
    const exited = program(process).then((exitCode) => {
      code = exitCode;
      this.#stops.delete(stop);
      return exitCode;
    });
    return {
      exited,
      exitCode: () => code,
      stop() {
        stop.abort(new Error('terminated'));
        return exited;
      },
    };
  }

  #listen(port: number, service: PortService): () => void {
    if (this.ports.has(port)) throw Object.assign(new Error(`listen EADDRINUSE :${port}`), { code: 'EADDRINUSE' });
    this.ports.set(port, service);
    return () => {
      if (this.ports.get(port) === service) this.ports.delete(port);
    };
  }
}

function filesOf(files: Map<string, string>): ProcessFiles {
  return {
    read: (path) => files.get(path),
    write: (path, content) => void files.set(path, content),
    remove: (path) => void files.delete(path),
    list: (prefix) => [...files.keys()].filter((path) => path.startsWith(prefix)).sort(),
  };
}
