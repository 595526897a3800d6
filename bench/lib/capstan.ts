import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { projectRoot, shippedNodeArguments } from './node-arguments.ts';

const probe = pathToFileURL(join(projectRoot, 'bench/lib/probe.mjs')).href;

/** Statistics a server under test reports about itself, since the last reset. */
export interface ProcessReport {
  stallMs: { p50: number; p99: number; max: number };
  cpuSeconds: number;
  loopUtilization: number;
  memory: NodeJS.MemoryUsage;
}

export interface CapstanProcess {
  pid: number;
  kubeconfig: string;
  dataDirectory: string;
  /** from the start of the process to its `ready` line */
  readyMs: number;
  reset(): Promise<void>;
  report(options?: { collectGarbage?: boolean }): Promise<ProcessReport>;
  startProfile(): Promise<void>;
  stopProfile(path: string): Promise<void>;
  heapSnapshot(path: string): Promise<void>;
  residentBytes(): number;
  stop(): Promise<void>;
}

export interface StartOptions {
  program: string;
  /** default: a new directory, removed at the end */
  dataDirectory?: string;
  nodeArguments?: readonly string[];
  /** additional arguments of `capstan up` */
  upArguments?: readonly string[];
  /** without it the process runs exactly as for users, but only times and resident memory are known */
  probe?: boolean;
}

/** Bundles the program like the package, but outside of the working tree. Returns its entry point. */
export async function buildCapstan(): Promise<{ program: string; remove(): void }> {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-bench-build-'));
  copyFileSync(join(projectRoot, 'package.json'), join(directory, 'package.json'));
  for (const name of ['node_modules', 'charts', 'stacks']) symlinkSync(join(projectRoot, name), join(directory, name));
  await build({
    absWorkingDir: projectRoot,
    entryPoints: ['src/cli/main.ts'],
    outdir: join(directory, 'dist'),
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
  });
  return {
    program: join(directory, 'dist/main.js'),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Starts `capstan up` in a separate process and waits until it is ready. */
export async function startCapstan(options: StartOptions): Promise<CapstanProcess> {
  const scratch = mkdtempSync(join(tmpdir(), 'capstan-bench-'));
  const dataDirectory = options.dataDirectory ?? join(scratch, 'data');
  const kubeconfig = join(scratch, 'kubeconfig');
  const withProbe = options.probe ?? true;
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [
      ...(withProbe ? ['--import', probe, '--expose-gc'] : []),
      ...shippedNodeArguments(),
      ...(options.nodeArguments ?? []),
      options.program,
      'up',
      ...['--data-dir', dataDirectory, '--listen', '127.0.0.1:0', '--kubeconfig', kubeconfig],
      ...['--encryption-key-file', join(dirname(dataDirectory), 'encryption.key')],
      ...(options.upArguments ?? []),
    ],
    {
      stdio: withProbe ? ['ignore', 'pipe', 'pipe', 'ipc'] : ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NODE_ENV: 'production' },
    },
  );
  const ended = new Promise<void>((resolveEnd) => child.once('exit', () => resolveEnd()));
  await waitForReady(child);
  const readyMs = performance.now() - started;
  const ask = questioner(child);
  const pid = child.pid!;
  return {
    pid,
    kubeconfig,
    dataDirectory,
    readyMs,
    reset: () => ask('reset'),
    report: ({ collectGarbage = false } = {}) => ask<ProcessReport>(collectGarbage ? 'collect' : 'report'),
    startProfile: () => ask('start profile'),
    stopProfile: (path) => ask('stop profile', path),
    heapSnapshot: (path) => ask('heap snapshot', path),
    residentBytes: () => residentBytes(pid),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

/** Returns the resident memory of a process from the kernel. */
export function residentBytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) * 1024;
}

function waitForReady(child: ChildProcess): Promise<void> {
  return new Promise((resolveReady, reject) => {
    let stdout = '';
    let stderr = '';
    child.stdout!.on('data', (bytes: Buffer) => {
      stdout += bytes.toString();
      if (/^ready$/m.test(stdout)) resolveReady();
    });
    child.stderr!.on('data', (bytes: Buffer) => {
      stderr = (stderr + bytes.toString()).slice(-10_000);
    });
    child.once('exit', (code) => reject(new Error(`capstan up ended with ${code} before it was ready:\n${stderr}`)));
  });
}

function questioner(child: ChildProcess): <T>(ask: string, path?: string) => Promise<T> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let nextId = 0;
  child.on('message', (message: { id: number; value?: unknown; error?: string }) => {
    const question = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error !== undefined) question?.reject(new Error(message.error));
    else question?.resolve(message.value);
  });
  return <T>(ask: string, path?: string) =>
    new Promise<T>((resolveAnswer, reject) => {
      const id = nextId++;
      waiting.set(id, { resolve: resolveAnswer as (value: unknown) => void, reject });
      child.send({ id, ask, path });
    });
}

/** Returns the memory of a process after garbage collection: resident, and the part used by objects and buffers. */
export async function settledMemory(capstan: CapstanProcess): Promise<{ residentBytes: number; usedBytes: number }> {
  // The first collection shrinks the young generation, the second releases its memory.
  await capstan.report({ collectGarbage: true });
  const { memory } = await capstan.report({ collectGarbage: true });
  return { residentBytes: capstan.residentBytes(), usedBytes: memory.heapUsed + memory.external };
}
