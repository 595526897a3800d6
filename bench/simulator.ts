/** Measures the simulated cloud: in process on a clock of its own, over HTTP, and what ten thousand servers weigh. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { ManualClock, seededRandom, systemClock, systemRandom } from '../src/machinery/index.ts';
import type { SimulatedCloud, Transport } from '../src/simulator/index.ts';
import { benchCloud, type CloudUser, enterCloud, makeServer } from './lib/cloud-user.ts';
import { Figures } from './lib/figures.ts';
import { runAsShipped, shippedNodeArguments } from './lib/node-arguments.ts';

runAsShipped(import.meta.url);

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    servers: { type: 'string', default: '10000' },
    clients: { type: 'string', default: '32' },
    only: { type: 'string', default: 'in-process,http,memory' },
    /** what this process does for another one of us */
    role: { type: 'string', default: 'measure' },
  },
});

const origin = 'http://cloud';
const seconds = Number(values.seconds);

if (values.role === 'serve') await serve();
else if (values.role === 'weigh') await weigh();
else await measure();

async function measure(): Promise<void> {
  const figures = new Figures();
  const only = values.only.split(',');
  for (let run = 0; run < Number(values.runs); run++) {
    if (only.includes('in-process')) await inProcess(figures);
    if (only.includes('http')) await overHttp(figures);
    if (only.includes('memory')) await memory(figures);
  }
  figures.print();
}

/**
 * Whole lives of workers, as a controller leads them: port and server made, looked at while they come up, tagged, deleted
 * and looked for until they are gone. Time moves between the steps.
 */
async function inProcess(figures: Figures): Promise<void> {
  const clock = new ManualClock();
  const cloud = await benchCloud({ clock, random: seededRandom(1) });
  const user = await enterCloud(cloud.transport, origin);
  const batch = 500;
  let lives = 0;
  const live = async (): Promise<number> => {
    const before = operationsOf(cloud);
    const made: { portId: string; serverId: string }[] = [];
    for (let i = 0; i < batch; i++) made.push(await makeServer(user, `server-${lives++}`));
    for (const { serverId } of made) await user.send('GET', `/compute/v2.1/servers/${serverId}`);
    await clock.advance(5_000);
    for (const { portId, serverId } of made) {
      await user.send('GET', `/compute/v2.1/servers/${serverId}`);
      await user.send('GET', `/network/v2.0/ports/${portId}`);
      await user.sendText('PUT', `/network/v2.0/ports/${portId}/tags`, '{"tags":["cluster"]}');
      await user.send('GET', `/compute/v2.1/servers/${serverId}/tags`);
      await user.send('DELETE', `/compute/v2.1/servers/${serverId}`);
      await user.send('GET', `/compute/v2.1/servers/${serverId}`);
    }
    await clock.advance(5_000);
    for (const { portId, serverId } of made) {
      await user.send('GET', `/compute/v2.1/servers/${serverId}`);
      await user.send('DELETE', `/network/v2.0/ports/${portId}`);
      await user.send('GET', `/network/v2.0/ports/${portId}`);
    }
    return operationsOf(cloud) - before;
  };
  await live();
  await live();
  let operations = 0;
  let rounds = 0;
  const requestsBefore = cloud.core.counts.total;
  const cpu = process.cpuUsage();
  const started = performance.now();
  while (performance.now() - started < seconds * 1000) {
    operations += await live();
    rounds++;
  }
  const elapsed = (performance.now() - started) / 1000;
  const { user: own, system } = process.cpuUsage(cpu);
  const target = { target: 'capstan' };
  const higher = { unit: '/s', better: 'higher', aim: 50_000 } as const;
  const requests = cloud.core.counts.total - requestsBefore;
  figures.add({ figure: 'in_process_operations_per_second', ...target }, operations / elapsed, higher);
  figures.add({ figure: 'in_process_requests_per_second', ...target }, requests / elapsed, {
    unit: '/s',
    better: 'higher',
  });
  figures.add(
    { figure: 'in_process_operations_per_second_of_one_core', ...target },
    (operations * 1e6) / (own + system),
    higher,
  );
  figures.add({ figure: 'thousand_server_lives', ...target }, (elapsed * 1000 * 1000) / (rounds * batch), {
    unit: 'ms',
    better: 'lower',
  });
  await cloud.close();
}

/** What a cloud has done: requests answered, and steps carried out that they led to. */
function operationsOf({ core }: SimulatedCloud): number {
  return core.counts.total + core.jobs.done;
}

/** The server is a process of its own with one thread; this one makes the load. */
async function overHttp(figures: Figures): Promise<void> {
  const { child, url } = await startServer();
  const pool = new Pool(url, { connections: Number(values.clients), pipelining: 1 });
  const transport: Transport = async (request) => {
    const { statusCode, headers, body } = await pool.request({
      method: request.method as 'GET',
      path: request.url.slice(url.length),
      headers: request.headers,
      ...(request.body !== undefined && { body: request.body }),
    });
    return {
      status: statusCode,
      headers: headers as Record<string, string>,
      body: new Uint8Array(await body.arrayBuffer()),
    };
  };
  try {
    const user = await enterCloud(transport, url);
    const { portId, serverId } = await makeServer(user, 'shown');
    const reads = await loadFor(child, [
      () => user.send('GET', `/compute/v2.1/servers/${serverId}`),
      () => user.send('GET', `/network/v2.0/ports/${portId}`),
    ]);
    report(figures, 'http_reads', reads);
    const mixed = await loadFor(child, [() => portLife(user)]);
    report(figures, 'http_mixed', {
      ...mixed,
      perSecond: mixed.perSecond * 4,
      cpuMicroseconds: mixed.cpuMicroseconds / 4,
    });
  } finally {
    await pool.close();
    child.kill();
  }
}

/** Four requests: make, show, tag, delete. */
async function portLife(user: CloudUser): Promise<void> {
  const { port } = await user.ask<{ port: { id: string } }>('POST', '/network/v2.0/ports', {
    port: { network_id: user.networkId },
  });
  await user.send('GET', `/network/v2.0/ports/${port.id}`);
  await user.send('PUT', `/network/v2.0/ports/${port.id}/tags`, { tags: ['bench'] });
  await user.send('DELETE', `/network/v2.0/ports/${port.id}`);
}

interface Load {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

async function loadFor(child: ChildProcess, steps: readonly (() => Promise<unknown>)[]): Promise<Load> {
  let done = 0;
  let stopped = false;
  const worker = async (offset: number): Promise<void> => {
    for (let i = offset; !stopped; i++) {
      await steps[i % steps.length]!();
      done++;
    }
  };
  const workers = Array.from({ length: Number(values.clients) }, (_, offset) => worker(offset));
  await pause(1000);
  const before = { done, cpu: cpuSeconds(child.pid!), at: performance.now() };
  await pause(seconds * 1000);
  const requests = done - before.done;
  const perSecond = (requests * 1000) / (performance.now() - before.at);
  const cpuMicroseconds = ((cpuSeconds(child.pid!) - before.cpu) * 1e6) / requests;
  stopped = true;
  await Promise.all(workers);
  return { perSecond, cpuMicroseconds };
}

function report(figures: Figures, figure: string, { perSecond, cpuMicroseconds }: Load): void {
  const target = { target: 'capstan' };
  figures.add({ figure: `${figure}_per_second`, ...target }, perSecond, { unit: '/s', better: 'higher', aim: 3_000 });
  figures.add({ figure: `${figure}_per_second_of_one_core`, ...target }, 1e6 / cpuMicroseconds, {
    unit: '/s',
    better: 'higher',
    aim: 3_000,
  });
}

async function startServer(): Promise<{ child: ChildProcess; url: string }> {
  const child = startSelf('serve');
  const url = await firstLine(child);
  return { child, url };
}

async function serve(): Promise<void> {
  const cloud = await benchCloud({ clock: systemClock, random: systemRandom, timeScale: 0.1 });
  const { url } = await cloud.listen({ host: '127.0.0.1', port: 0 });
  process.stdout.write(`${url}\n`);
}

async function memory(figures: Figures): Promise<void> {
  const child = startSelf('weigh');
  const { residentMiB, heapMiB, listMs } = JSON.parse(await firstLine(child)) as Record<string, number>;
  const target = { target: 'capstan', kind: `${values.servers}_servers` };
  const isUsual = values.servers === '10000';
  figures.add({ figure: 'resident', ...target }, residentMiB!, {
    unit: 'MiB',
    better: 'lower',
    ...(isUsual && { aim: 400 }),
  });
  figures.add({ figure: 'heap_used', ...target }, heapMiB!, { unit: 'MiB', better: 'lower' });
  figures.add({ figure: 'list_of_1000_with_details', ...target }, listMs!, { unit: 'ms', better: 'lower' });
}

/** Fills a cloud with running servers on ports of their own and says what that takes. */
async function weigh(): Promise<void> {
  const clock = new ManualClock();
  const cloud = await benchCloud({ clock, random: seededRandom(1) });
  const user = await enterCloud(cloud.transport, origin);
  for (let i = 0; i < Number(values.servers); i++) {
    await makeServer(user, `server-${i}`);
    if (i % 500 === 499) await clock.advance(5_000);
  }
  await clock.advance(10_000);
  const active = await user.ask<{ servers: { status: string }[] }>('GET', '/compute/v2.1/servers/detail?limit=1000');
  if (active.servers.some(({ status }) => status !== 'ACTIVE')) throw new Error('not all servers run');
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const started = performance.now();
    await user.send('GET', '/compute/v2.1/servers/detail?limit=1000');
    times.push(performance.now() - started);
  }
  globalThis.gc?.();
  await pause(500);
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const mib = 2 ** 20;
  process.stdout.write(
    `${JSON.stringify({ residentMiB: rss / mib, heapMiB: heapUsed / mib, listMs: Math.min(...times) })}\n`,
  );
  await cloud.close();
}

function startSelf(role: string): ChildProcess {
  const script = process.argv[1]!;
  const passed = process.argv.slice(2);
  const nodeArguments = [...shippedNodeArguments(), '--expose-gc'];
  return spawn(process.execPath, [...nodeArguments, script, ...passed, '--role', role], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.once('exit', (code) => reject(new Error(`the process ended with ${code}`)));
  });
}

/** The kernel counts in hundredths of a second. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
