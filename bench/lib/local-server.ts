import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtinDefinitions, builtinSchema, ownDefinitions, protobufRegistry } from '../../src/api/index.ts';
import {
  type ApiServer,
  controllerBackedPlugins,
  createApiServer,
  openObjectStore,
  type StoredObject,
} from '../../src/apiserver/index.ts';
import { type Engine, lmdbEngine, memoryEngine, type Store } from '../../src/store/index.ts';
import { percentile } from './figures.ts';

export interface LocalServer {
  server: ApiServer;
  store: Store<StoredObject>;
  close(): Promise<void>;
}

/** The API server in this process, without a listener. */
export async function startLocalServer(engine: Engine): Promise<LocalServer> {
  const store = await openObjectStore({ engine });
  const server = await createApiServer({
    store,
    definitions: [...builtinDefinitions, ...ownDefinitions],
    admissionPlugins: { disable: controllerBackedPlugins },
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: { mode: 'RBAC' },
    onError: (error, what) => process.stderr.write(`${what}: ${String(error)}\n`),
  });
  return {
    server,
    store,
    async close() {
      await server.stop();
      await store.close();
    },
  };
}

export interface BenchEngine {
  engine: Engine;
  remove(): void;
}

/** Opens the durable engine in a temporary directory, or the one in memory. The difference is the cost of the disk. */
export async function openBenchEngine(name: string): Promise<BenchEngine> {
  if (name === 'memory') return { engine: memoryEngine(), remove() {} };
  const directory = mkdtempSync(join(tmpdir(), 'capstan-bench-store-'));
  return {
    engine: await lmdbEngine({ directory }),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

export interface WriteResult {
  perSecond: number;
  /** CPU time of the whole process per write, including disk threads and garbage collection */
  cpuMicroseconds: number;
  /** the same in the fastest tenth of the time, without interference from the machine */
  quietCpuMicroseconds: number;
}

const sliceWrites = 1000;

/** Runs `writers` parallel loops of `write` and returns the rate and the cost. */
export async function writesPerSecond(options: {
  writers: number;
  warmUpMs: number;
  measureMs: number;
  write(): Promise<void>;
}): Promise<WriteResult> {
  let count = 0;
  let stopped = false;
  const slices: number[] = [];
  let sliceCpu = process.cpuUsage();
  const writer = async (): Promise<void> => {
    while (!stopped) {
      await options.write();
      if (++count % sliceWrites !== 0) continue;
      const { user, system } = process.cpuUsage(sliceCpu);
      slices.push((user + system) / sliceWrites);
      sliceCpu = process.cpuUsage();
    }
  };
  const running = Promise.all(Array.from({ length: options.writers }, writer));
  await Promise.race([pause(options.warmUpMs), running]);
  slices.length = 0;
  const before = count;
  const cpu = process.cpuUsage();
  const started = performance.now();
  await Promise.race([pause(options.measureMs), running]);
  const seconds = (performance.now() - started) / 1000;
  const writes = count - before;
  const { user, system } = process.cpuUsage(cpu);
  stopped = true;
  await running;
  return {
    perSecond: writes / seconds,
    cpuMicroseconds: (user + system) / writes,
    quietCpuMicroseconds: percentile(slices, 0.1),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
