import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject } from '../../src/machinery/index.ts';
import { shippedNodeArguments } from './node-arguments.ts';

/** `capstan cloud` in a separate process, so that it is not measured together with its clients. */
export interface CloudProcess {
  pid: number;
  cloudsYaml: string;
  /** sends a request to the operator API; returns the parsed answer */
  operate(method: string, path: string, body?: unknown): Promise<unknown>;
  /** number of answered requests since the counters were reset */
  requestCount(): Promise<number>;
  stop(): Promise<void>;
}

export async function startCloudProcess(program: string, nodeArguments: readonly string[] = []): Promise<CloudProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'capstan-bench-cloud-'));
  const child = spawn(
    process.execPath,
    [
      ...shippedNodeArguments(),
      ...nodeArguments,
      program,
      'cloud',
      ...['--in-memory', '--data-dir', directory, '--listen', '127.0.0.1:0'],
    ],
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, NODE_ENV: 'production' } },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (bytes: Buffer) => {
      text += bytes.toString();
      const found = /^simulated cloud (\S+)\/identity\/v3$/m.exec(text)?.[1];
      if (found !== undefined && /^ready$/m.test(text)) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`capstan cloud ended with ${code} before it was ready`)));
  });
  const token = readFileSync(join(directory, 'cloud', 'admin-token'), 'utf8');
  const operate: CloudProcess['operate'] = async (method, path, body) => {
    const response = await fetch(`${url}/_admin${path}`, {
      method,
      headers: { 'x-admin-token': token, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} /_admin${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  return {
    pid: child.pid!,
    cloudsYaml: join(directory, 'clouds.yaml'),
    operate,
    requestCount: async () => sumOf(await operate('GET', '/requests')),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Counters are grouped by service, verb and path. Only the sum is needed. */
function sumOf(counters: unknown): number {
  if (typeof counters === 'number') return counters;
  return isJsonObject(counters) ? Object.values(counters).reduce<number>((sum, part) => sum + sumOf(part), 0) : 0;
}
