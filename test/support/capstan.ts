import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOnRealKubernetes, startOnRealKubernetes } from './on-real-kubernetes.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { capstanEnvironment, capstanProgram } from './program.ts';

export interface CapstanOptions {
  /** data of an earlier run; default: a new directory that `stop` removes */
  directory?: string;
  /** default: a free port */
  port?: number;
  /** additional arguments of `capstan up` */
  args?: readonly string[];
  /** cluster controllers to run; default: none, because most suites test only the API */
  controllers?: string;
  /** Pod runtime; default: none, for the same reason */
  pods?: 'simulated' | 'none';
}

/** A `capstan up` started by a test. */
export interface CapstanProcess {
  readonly url: string;
  readonly port: number;
  readonly kubeconfig: string;
  /** directory of data, kubeconfig and key; pass it to restart on the same data */
  readonly directory: string;
  readonly pid: number;
  /** log output so far */
  logs(): string;
  /** stops the process and keeps its data; SIGKILL simulates a crash */
  end(signal?: NodeJS.Signals): Promise<void>;
  /** restarts the process on the same data and port */
  restart(signal?: NodeJS.Signals): Promise<CapstanProcess>;
  /** stops the process and removes its data */
  stop(): Promise<void>;
}

const startPatienceMs = 60_000;
const addressPatienceMs = 600_000;

/**
 * Starts `capstan up` on a free loopback port and waits until it is ready. With a real Kubernetes as target it starts
 * the equivalent processes there.
 */
export async function startCapstan(options: CapstanOptions = {}): Promise<CapstanProcess> {
  if (isOnRealKubernetes()) return await startOnRealKubernetes(options);
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'capstan-e2e-')));
  const kubeconfig = join(directory, 'kubeconfig');
  try {
    const child = await startOnceAddressesAreFree(directory, kubeconfig, options);
    const url = /https:\/\/\S+/.exec(child.stdout())?.[0] ?? '';
    return describe(child, { ...options, directory, port: Number(new URL(url).port) }, kubeconfig, url);
  } catch (error) {
    if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Data of an earlier run need its loopback addresses again. Suites that run in parallel may have taken them meanwhile,
 * and give them back at their end.
 */
async function startOnceAddressesAreFree(
  directory: string,
  kubeconfig: string,
  options: CapstanOptions,
): Promise<RunningProcess> {
  const deadline = performance.now() + addressPatienceMs;
  for (;;) {
    const child = startProcess(
      process.execPath,
      [
        ...capstanProgram(),
        'up',
        ...['--data-dir', join(directory, 'data')],
        ...['--listen', `127.0.0.1:${options.port ?? 0}`],
        ...['--kubeconfig', kubeconfig],
        ...['--encryption-key-file', join(directory, 'key')],
        ...['--controllers', options.controllers ?? 'none'],
        ...['--pods', options.pods ?? 'none'],
        // Other tests run in parallel.
        ...['--bootstrap-listen', '127.0.0.1:0', '--agent-listen', '127.0.0.1:0'],
        ...(options.args ?? []),
      ],
      capstanEnvironment(),
    );
    try {
      await child.until((stdout) => /^ready$/m.test(stdout), 'the line "ready"', startPatienceMs);
      return child;
    } catch (error) {
      const { stderr } = await child.stop('SIGKILL');
      const isTaken = options.directory !== undefined && stderr.includes('CAP_ADDRESSES_TAKEN');
      if (!isTaken || performance.now() > deadline) throw error;
    }
  }
}

/** Starts `capstan cloud` in a separate process. The caller removes its data directory. */
export async function startCloudApart(
  directory: string,
  { address = '127.0.0.1' }: { address?: string } = {},
): Promise<{ directory: string; stop(): Promise<void> }> {
  const child = startProcess(
    process.execPath,
    [...capstanProgram(), 'cloud', '--data-dir', directory, '--listen', `${address}:0`],
    capstanEnvironment(),
  );
  try {
    await child.until((stdout) => /^ready$/m.test(stdout), 'the line "ready"', startPatienceMs);
  } catch (error) {
    await child.stop('SIGKILL');
    throw error;
  }
  return {
    directory,
    stop: async () => {
      await child.stop();
    },
  };
}

function describe(
  child: RunningProcess,
  options: CapstanOptions & { directory: string; port: number },
  kubeconfig: string,
  url: string,
): CapstanProcess {
  const { directory, port } = options;
  const end = async (signal?: NodeJS.Signals): Promise<void> => {
    await child.stop(signal);
  };
  return {
    url,
    port,
    kubeconfig,
    directory,
    pid: child.pid,
    logs: () => child.stderr(),
    end,
    restart: async (signal) => {
      await end(signal);
      return startCapstan(options);
    },
    stop: async () => {
      await end();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
