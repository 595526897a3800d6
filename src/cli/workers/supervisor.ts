import { type ChildProcess, fork } from 'node:child_process';
import { CapstanError, type Clock, sleep } from '../../machinery/index.ts';
import type { CheckResult, Logger } from '../../runtime/index.ts';
import { controllerEnvironment, controllerNodeOptions } from '../controller/controller-memory.ts';
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts';

export interface SupervisorOptions {
  count: number;
  /** returns the settings of a worker for each start */
  settings(name: string): Promise<WorkerSettings>;
  clock: Clock;
  log: Logger;
}

/** Controller processes. They are restarted when they exit, and end with this process in any case. */
export interface Workers {
  /** resolves when all workers are ready for the first time */
  whenReady(signal: AbortSignal): Promise<void>;
  ready(): CheckResult;
  stop(): Promise<void>;
}

const firstPauseMs = 500;
const maxPauseMs = 30_000;
/** A worker that ran this long does not count as crashing repeatedly. */
const steadyMs = 60_000;
/** Time for a worker to finish running work. */
const stopPatienceMs = 15_000;

interface Worker {
  readonly name: string;
  isReady: boolean;
  child: ChildProcess | undefined;
}

export function startWorkers(options: SupervisorOptions): Workers {
  const { clock, log, count } = options;
  const stopping = new AbortController();
  const waiters = new Set<() => void>();
  const workers = Array.from(
    { length: count },
    (_, index): Worker => ({ name: `worker-${index + 1}`, isReady: false, child: undefined }),
  );
  const areReady = (): boolean => workers.every(({ isReady }) => isReady);

  const runOnce = async (worker: Worker): Promise<string> => {
    const settings = await options.settings(worker.name);
    const child = fork(process.argv[1] ?? '', ['__worker'], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [...process.execArgv, ...controllerNodeOptions],
      env: { ...controllerEnvironment, ...process.env },
    });
    worker.child = child;
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`));
    });
    child.on('message', (message: FromWorker) => {
      if (message.type !== 'ready') return;
      worker.isReady = true;
      log.info('A worker is ready', { worker: worker.name, pid: child.pid });
      if (areReady()) for (const resolve of waiters) resolve();
    });
    tell(child, { type: 'begin', settings });
    if (stopping.signal.aborted) tell(child, { type: 'stop' });
    const how = await ended;
    worker.isReady = false;
    worker.child = undefined;
    return how;
  };

  const keep = async (worker: Worker): Promise<void> => {
    let pauseMs = firstPauseMs;
    while (!stopping.signal.aborted) {
      const startedAt = clock.monotonic();
      const how = await runOnce(worker).catch((error: unknown) => String(error));
      if (stopping.signal.aborted) return;
      if (clock.monotonic() - startedAt > steadyMs) pauseMs = firstPauseMs;
      log.warn('A worker ended and is started again', { worker: worker.name, how, pauseMs });
      await sleep(clock, pauseMs, stopping.signal).catch(() => {});
      pauseMs = Math.min(maxPauseMs, pauseMs * 2);
    }
  };
  const running = Promise.all(workers.map(keep));

  return {
    whenReady: (signal) =>
      new Promise((resolve, reject) => {
        if (areReady()) return resolve();
        waiters.add(resolve);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
    ready() {
      const problems = workers.filter(({ isReady }) => !isReady).map(({ name }) => `${name} is not ready`);
      return { ok: problems.length === 0, problems };
    },
    async stop() {
      stopping.abort();
      for (const { child } of workers) if (child) tell(child, { type: 'stop' });
      const cancel = clock.after(stopPatienceMs, () => {
        for (const { child } of workers) child?.kill('SIGKILL');
      });
      await running;
      cancel();
    },
  };
}

/** A worker that has just exited cannot receive messages; its exit is handled elsewhere. */
function tell(child: ChildProcess, message: ToWorker): void {
  if (child.connected) child.send(message, () => {});
}

/** Parses `--workers`: 0 keeps the controllers in the main process. */
export function parseWorkers(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new CapstanError('CAP_USAGE', `--workers: "${text}" is not a number of processes`);
}
