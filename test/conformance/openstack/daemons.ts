import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Layout, loopback } from './layout.ts';

/** A program that outlives the command that started it. */
export interface DaemonSpec {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface DaemonState {
  readonly name: string;
  readonly pid: number;
  readonly alive: boolean;
}

/** Debian's tools and interpreter. The Python of a virtual environment would lack the packages. */
export const systemPath = '/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Environment of all programs: no proxies, no other Python, the drivers of this directory importable. */
export function daemonEnvironment(layout: Layout): Record<string, string> {
  return {
    PATH: systemPath,
    HOME: layout.data,
    LANG: 'C.UTF-8',
    PYTHONPATH: layout.python,
    PYTHONDONTWRITEBYTECODE: '1',
    PYTHONUNBUFFERED: '1',
    no_proxy: `${loopback},localhost`,
  };
}

/** Starts a daemon in its own session unless it is running. Its output goes to its log. */
export async function ensureDaemon(layout: Layout, spec: DaemonSpec): Promise<void> {
  if ((await readState(layout, spec.name))?.alive) return;
  const log = openSync(logFile(layout, spec.name), 'a');
  try {
    const child = spawn(spec.file, spec.args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...daemonEnvironment(layout), ...spec.env },
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    child.unref();
    const pid = child.pid!;
    await writeFile(pidFile(layout, spec.name), `${pid} ${(await procStat(pid))?.startTime ?? ''}\n`);
  } finally {
    closeSync(log);
  }
}

/** Lists all daemons that were started and not stopped, including dead ones, by name. */
export async function listDaemons(layout: Layout): Promise<DaemonState[]> {
  const files = await readdir(layout.processes).catch(() => []);
  const names = files.filter((file) => file.endsWith('.pid')).map((file) => file.slice(0, -'.pid'.length));
  const states = await Promise.all(names.sort().map((name) => readState(layout, name)));
  return states.filter((state) => state !== undefined);
}

/** Stops daemons: sends a signal, waits, and kills remaining process groups. */
export async function stopDaemons(layout: Layout, names: readonly string[], patienceMs = 30_000): Promise<void> {
  const running = async (): Promise<DaemonState[]> => {
    const states = await Promise.all(names.map((name) => readState(layout, name)));
    return states.filter((state) => state?.alive) as DaemonState[];
  };
  for (const { pid } of await running()) signal(pid, 'SIGTERM');
  const deadline = performance.now() + patienceMs;
  while (performance.now() < deadline && (await running()).length > 0) await delay(200);
  for (const { pid } of await running()) signal(-pid, 'SIGKILL');
  for (const name of names) await rm(pidFile(layout, name), { force: true });
}

/** Waits until the check succeeds. Fails at once with the end of the log if the daemon exits. */
export async function waitForDaemon(
  layout: Layout,
  name: string,
  check: () => Promise<boolean>,
  patienceMs = 120_000,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await check())) {
    const ended = !(await readState(layout, name))?.alive;
    if (ended || performance.now() > deadline) {
      const log = await readFile(logFile(layout, name), 'utf8').catch(() => '');
      const why = ended ? 'has ended' : `is not ready after ${patienceMs / 1000} s`;
      throw new Error(`${name} ${why}; the end of ${logFile(layout, name)}:\n${log.split('\n').slice(-25).join('\n')}`);
    }
    await delay(250);
  }
}

/** Reports whether the port accepts connections. */
export function portAnswers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, loopback);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Reports whether an OpenStack API answers, with its versions or with 401. */
export async function apiAnswers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await answer.arrayBuffer();
    return [200, 300, 401].includes(answer.status);
  } catch {
    return false;
  }
}

export function logFile(layout: Layout, name: string): string {
  return join(layout.logs, `${name}.log`);
}

function pidFile(layout: Layout, name: string): string {
  return join(layout.processes, `${name}.pid`);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited meanwhile.
  }
}

interface ProcStat {
  state: string;
  group: number;
  /** in clock ticks since boot; distinguishes a process from a later one with the same pid */
  startTime: string;
}

async function procStat(pid: number): Promise<ProcStat | undefined> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The command name, in parentheses, may contain blanks and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0]!, group: Number(fields[2]), startTime: fields[19]! };
  } catch {
    return undefined;
  }
}

async function readState(layout: Layout, name: string): Promise<DaemonState | undefined> {
  const text = await readFile(pidFile(layout, name), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const [pidText, startTime] = text.trim().split(' ');
  const pid = Number(pidText);
  const stat = await procStat(pid);
  const alive = stat !== undefined && stat.startTime === startTime && stat.state !== 'Z';
  return { name, pid, alive };
}

/** Returns the memory of a daemon and its children in MiB, with proportional shared pages (PSS). */
export async function daemonMemory(group: number): Promise<number> {
  let kib = 0;
  for (const entry of await readdir('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || (await procStat(pid))?.group !== group) continue;
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
    kib += Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0);
  }
  return Math.round(kib / 1024);
}
