import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { type Outcome, type RunningProcess, runProcess, startProcess } from '../../support/process.ts';
import { capstanProgram } from '../../support/program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const startPatienceMs = 60_000;

export const capstanArguments = (...args: string[]): string[] => [...capstanProgram(), ...args];

const env = { ...(process.env as Record<string, string>), NO_COLOR: '1' };

export function runCapstan(...args: string[]): Promise<Outcome> {
  return runCapstanIn({}, ...args);
}

/** With additional environment variables. */
export function runCapstanIn(variables: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> {
  return runProcess(process.execPath, capstanArguments(...args), { cwd: root, env: { ...env, ...variables } });
}

export interface CloudEntry {
  readonly auth: Readonly<Record<string, string>>;
  readonly region_name: string;
  readonly cacert?: string;
}

/** A `capstan cloud` started by a test. */
export interface CloudProcess {
  readonly child: RunningProcess;
  readonly directory: string;
  readonly url: string;
  readonly cloudsYaml: string;
  clouds(): Promise<Record<string, CloudEntry>>;
  adminToken(): Promise<string>;
  /** stops the process and keeps its data */
  end(signal?: NodeJS.Signals): Promise<Outcome>;
  restart(signal?: NodeJS.Signals): Promise<CloudProcess>;
  /** stops the process and removes its data */
  stop(): Promise<void>;
}

export interface CloudProcessOptions {
  readonly directory?: string;
  /** additional arguments, or another command instead of `cloud` */
  readonly args?: readonly string[];
  readonly command?: readonly string[];
}

/** Starts the command on a free loopback port and waits until it reports that it is ready. */
export async function startCloud(options: CloudProcessOptions = {}): Promise<CloudProcess> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'capstan-cloud-e2e-')));
  const command = options.command ?? ['cloud', '--listen', '127.0.0.1:0'];
  const args = capstanArguments(...command, '--data-dir', directory, ...(options.args ?? []));
  const child = startProcess(process.execPath, args, { cwd: root, env });
  try {
    await child.until((stdout) => /^ready$/m.test(stdout), 'the line "ready"', startPatienceMs);
  } catch (error) {
    await child.stop('SIGKILL');
    if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    throw error;
  }
  const url = /^simulated cloud (\S+)\/identity\/v3$/m.exec(child.stdout())?.[1] ?? '';
  const cloudsYaml = join(directory, 'clouds.yaml');
  return {
    child,
    directory,
    url,
    cloudsYaml,
    clouds: async () => (parse(await readFile(cloudsYaml, 'utf8')) as { clouds: Record<string, CloudEntry> }).clouds,
    adminToken: () => readFile(join(directory, 'cloud', 'admin-token'), 'utf8'),
    end: (signal) => child.stop(signal),
    restart: async (signal) => {
      await child.stop(signal);
      return startCloud({ ...options, directory });
    },
    stop: async () => {
      await child.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
