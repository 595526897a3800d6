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

/** The API server inside this process, without a listener. */
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

/** The durable engine on a throw-away directory, or the one in memory: the difference is the price of the disk. */
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
  /** CPU time of the whole process per write, disk threads and garbage collection included */
  cpuMicroseconds: number;
  /** the same in the quietest tenth of the time: what it costs when nothing else disturbs the machine */
  quietCpuMicroseconds: number;
}

const sliceWrites = 1000;

/** Runs `writers` loops of `write` for a while and returns how many of them ended per second and what they cost. */
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
