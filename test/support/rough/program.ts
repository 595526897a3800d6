import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { isJsonObject, type JsonObject, parseYaml } from '../../../src/machinery/index.ts';
import { type Outcome, type RunningProcess, startProcess } from '../process.ts';
import type { Endpoint } from './wire.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The program as one bundle of the current sources, which starts several times faster. */
export interface Program {
  run(...args: string[]): Promise<Outcome>;
  start(...args: string[]): RunningProcess;
  /** runs `up` on the data below `directory` and waits for `ready` */
  up(directory: string, ...args: string[]): Promise<RunningServer>;
  remove(): Promise<void>;
}

export interface RunningServer {
  readonly process: RunningProcess;
  readonly url: string;
  readonly admin: Endpoint;
  readonly dataDirectory: string;
  readonly kubeconfig: string;
}

export async function bundleProgram(): Promise<Program> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-program-'));
  await build({
    entryPoints: [join(root, 'src/cli/main.ts')],
    outdir: join(directory, 'dist'),
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  await cp(join(root, 'package.json'), join(directory, 'package.json'));
  for (const name of ['node_modules', 'charts', 'stacks']) await symlink(join(root, name), join(directory, name));
  const script = join(directory, 'dist/main.js');
  // Isolated from the caller's settings.
  const env = { PATH: process.env['PATH'] ?? '', HOME: directory, NO_COLOR: '1' };
  const start = (...args: string[]): RunningProcess =>
    startProcess(process.execPath, [script, ...args], { cwd: directory, env });
  return {
    start,
    run: (...args) => start(...args).ended,
    up: (place, ...args) => startUp(start, place, args),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Returns arguments of `up` that keep all files below one directory. */
export function upArguments(directory: string): string[] {
  return [
    'up',
    // These suites test the API, and controllers would interfere.
    ...['--controllers', 'none'],
    ...['--data-dir', join(directory, 'data')],
    ...['--listen', '127.0.0.1:0'],
    ...['--kubeconfig', join(directory, 'kubeconfig')],
    ...['--encryption-key-file', join(directory, 'key')],
  ];
}

async function startUp(start: Program['start'], directory: string, args: readonly string[]): Promise<RunningServer> {
  const process = start(...upArguments(directory), ...args);
  await process.until((stdout) => /^ready$/m.test(stdout), 'the line "ready"', 60_000);
  const url = /https:\/\/\S+/.exec(process.stdout())?.[0] ?? '';
  const kubeconfig = join(directory, 'kubeconfig');
  return { process, url, kubeconfig, dataDirectory: join(directory, 'data'), admin: await endpointOf(kubeconfig) };
}

/** Returns the server and credentials of a kubeconfig's only context. */
export async function endpointOf(kubeconfig: string): Promise<Endpoint> {
  const { value } = parseYaml(await readFile(kubeconfig, 'utf8'));
  const first = (list: string, member: string): JsonObject => {
    const entry = isJsonObject(value) && Array.isArray(value[list]) ? value[list][0] : undefined;
    return (entry as JsonObject)[member] as JsonObject;
  };
  const text = (base64: unknown): string => Buffer.from(String(base64), 'base64').toString();
  const cluster = first('clusters', 'cluster');
  const user = first('users', 'user');
  const { hostname, port } = new URL(String(cluster['server']));
  return {
    host: hostname,
    port: Number(port),
    ca: text(cluster['certificate-authority-data']),
    cert: text(user['client-certificate-data']),
    key: text(user['client-key-data']),
  };
}
