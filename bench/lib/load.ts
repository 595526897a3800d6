import type { Answer, Connection } from './connection.ts';
import { percentile } from './figures.ts';

/** One step of a client: sends a request and resolves once it is answered. */
export type Step = (connection: Connection, client: number) => Promise<void>;

export interface LoadResult {
  perSecond: number;
  requests: number;
  seconds: number;
  latencyMs: { p50: number; p99: number };
  /** fraction of one core used by the load generator; near 1 it is the bottleneck instead of the server */
  generatorLoad: number;
  /** CPU time of the load generator per request */
  generatorCpuMicroseconds: number;
}

/**
 * Runs `clients` clients, each of which sends its next request after the last answer. The first `warmUpMs` do not
 * count.
 */
export async function closedLoop(options: {
  connections: readonly Connection[];
  clients: number;
  warmUpMs: number;
  measureMs: number;
  step: Step;
  /** called when the measurement starts, for example to reset the server's counters */
  onMeasure?(): Promise<void> | void;
}): Promise<LoadResult> {
  const { connections, clients, step } = options;
  let counting = false;
  let stopped = false;
  const latencies: number[] = [];
  const client = async (number: number): Promise<void> => {
    const connection = connections[number % connections.length]!;
    while (!stopped) {
      const started = performance.now();
      await step(connection, number);
      if (counting) latencies.push(performance.now() - started);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  await Promise.race([delay(options.warmUpMs), running]);
  await options.onMeasure?.();
  counting = true;
  const started = performance.now();
  const loop = performance.eventLoopUtilization();
  const cpu = process.cpuUsage();
  await Promise.race([delay(options.measureMs), running]);
  counting = false;
  const seconds = (performance.now() - started) / 1000;
  const generatorLoad = performance.eventLoopUtilization(performance.eventLoopUtilization(), loop).utilization;
  const { user, system } = process.cpuUsage(cpu);
  const requests = latencies.length;
  stopped = true;
  await running;
  return {
    perSecond: requests / seconds,
    requests,
    seconds,
    latencyMs: { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) },
    generatorLoad,
    generatorCpuMicroseconds: (user + system) / requests,
  };
}

/** Starts `perSecond` steps per second for `durationMs`, independent of the answers. Resolves once all are answered. */
export async function openLoop(options: {
  connections: readonly Connection[];
  perSecond: number;
  durationMs: number;
  step: Step;
}): Promise<{ requests: number }> {
  const { connections, perSecond, durationMs, step } = options;
  const free = [...connections];
  const running: Promise<void>[] = [];
  const started = performance.now();
  let sent = 0;
  for (;;) {
    const elapsed = performance.now() - started;
    if (elapsed >= durationMs) break;
    for (const due = Math.floor((elapsed / 1000) * perSecond); sent < due; ) {
      const connection = free.pop();
      if (!connection) break;
      running.push(step(connection, sent++).then(() => void free.push(connection)));
    }
    await delay(1);
  }
  await Promise.all(running);
  return { requests: sent };
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function expectStatus(answer: Answer, ...wanted: number[]): Buffer {
  if (wanted.includes(answer.status)) return answer.body;
  throw new Error(`the server answered ${answer.status}: ${answer.body.toString().slice(0, 500)}`);
}

const versionMark = Buffer.from('"resourceVersion":"');

/** Finds the resourceVersion in JSON without parsing it. */
export function resourceVersionIn(body: Buffer): string {
  const at = body.indexOf(versionMark) + versionMark.length;
  return body.toString('latin1', at, body.indexOf(0x22, at));
}
