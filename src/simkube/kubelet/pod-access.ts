import type { Duplex } from 'node:stream';
import type { PodAttacher, PodConnector, PodExecutor, PodLogOptions, PodLogSource } from '../../apiserver/index.ts';
import {
  type Clock,
  formatMicroTime,
  type KubeObject,
  statusError,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { LogLine, RunningContainer } from '../containers/types.ts';
import type { LogFiles } from './log-files.ts';
import type { PodWorker } from './pod-worker.ts';

export interface PodWorkers {
  worker(pod: KubeObject): PodWorker | undefined;
}

/** Reads container logs, and follows them if requested. */
export function podLogSource(pods: PodWorkers, clock: Clock, files?: LogFiles): PodLogSource {
  return (pod, options) => {
    const { container: name, previous } = options;
    const worker = pods.worker(pod)?.container(name);
    const log =
      worker?.logs(previous) ?? keptLog(files, pod, name, worker && previous ? worker.restartCount - 1 : undefined);
    if (!log || (previous && !worker)) {
      const state = worker?.status('ContainerCreating').state?.waiting?.reason;
      const label = `container "${name}" in pod "${pod.metadata.name}"`;
      throw previous
        ? statusError.badRequest(`previous terminated ${label} not found`)
        : statusError.badRequest(`${label} is waiting to start: ${state ?? 'ContainerCreating'}`);
    }
    return readLog(log, options, clock);
  };
}

interface ReadableLog {
  readonly lines: readonly LogLine[];
  /** undefined if it is no longer running */
  readonly container: RunningContainer | undefined;
}

/** Reads the log from before this program started. */
function keptLog(
  files: LogFiles | undefined,
  { metadata: { uid = '' } }: UnstructuredObject,
  container: string,
  restart: number | undefined,
): ReadableLog | undefined {
  const lines = files?.read({ uid, container, ...(restart !== undefined && { restart }) });
  return lines && { lines, container: undefined };
}

async function* readLog(log: ReadableLog, options: PodLogOptions, clock: Clock): AsyncGenerator<string> {
  const {
    tailLines,
    sinceSeconds,
    sinceTime,
    limitBytes = Number.POSITIVE_INFINITY,
    timestamps,
    follow,
    signal,
  } = options;
  const since = sinceSeconds === undefined ? (sinceTime ?? 0) : clock.now() - sinceSeconds * 1000;
  const recent = log.lines.filter(({ at }) => at >= since);
  const kept = tailLines === undefined ? recent : tailLines === 0 ? [] : recent.slice(-tailLines);
  let left = limitBytes;
  const cut = ({ at, text }: LogLine): string => {
    const line = Buffer.from(timestamps ? `${formatMicroTime(at)} ${text}\n` : `${text}\n`, 'utf8');
    const part = line.subarray(0, Math.min(line.length, left));
    left -= part.length;
    return part.toString('utf8');
  };
  const fresh = follow && log.container ? newLines(log.container, signal) : undefined;
  for (const line of [...kept]) {
    if (left <= 0) return;
    yield cut(line);
  }
  for await (const line of fresh ?? []) {
    if (left <= 0) return;
    yield cut(line);
  }
}

/** Yields new lines until the container exits or the reader leaves. Subscribes at the moment of the call. */
function newLines(container: RunningContainer, signal: AbortSignal): AsyncIterable<LogLine> {
  const waiting: LogLine[] = [];
  let isOver = signal.aborted;
  let wake = (): void => {};
  const end = (): void => {
    isOver = true;
    wake();
  };
  const stop = container.onLine((line) => {
    waiting.push(line);
    wake();
  });
  signal.addEventListener('abort', end, { once: true });
  container.exited.then(end, end);
  return {
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          for (let line = waiting.shift(); line; line = waiting.shift()) yield line;
          if (isOver) return;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        stop();
        signal.removeEventListener('abort', end);
      }
    },
  };
}

/** Connects to ports of local Pods. */
export function podPortConnector(pods: PodWorkers): PodConnector {
  return async (pod, port): Promise<Duplex> => {
    const sandbox = pods.worker(pod)?.sandbox;
    if (!sandbox) throw new Error(`pod ${pod.metadata.name} is not running`);
    try {
      return sandbox.connect(port);
    } catch (cause) {
      throw new Error(`failed to connect to localhost:${port} inside pod ${pod.metadata.name}: connection refused`, {
        cause,
      });
    }
  };
}

/** Runs commands in local containers. */
export function podCommandRunner(pods: PodWorkers): PodExecutor {
  return async (pod, { container: name, command, signal, stdin, tty, out }) => {
    const container = runningContainer(pods, pod, name);
    const { exitCode } = await container.exec(command, signal, { ...(stdin && { stdin }), tty, out });
    return exitCode;
  };
}

/** Streams the output of local containers. Input is discarded. */
export function podAttacher(pods: PodWorkers): PodAttacher {
  return async (pod, { container: name, signal, stdin, tty, out }) => {
    const container = runningContainer(pods, pod, name);
    if (stdin) void drain(stdin);
    const end = tty ? '\r\n' : '\n';
    for await (const { text } of newLines(container, signal)) out(`${text}${end}`);
  };
}

function runningContainer(pods: PodWorkers, pod: UnstructuredObject, name: string): RunningContainer {
  const container = pods.worker(pod)?.container(name)?.container;
  if (!container) throw new Error(`container not found ("${name}")`);
  return container;
}

async function drain(stdin: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const _ of stdin);
  } catch {
    // The client has disconnected.
  }
}
