import { builtinDefinitions, builtinSchema, protobufRegistry } from '../../api/index.ts';
import {
  type ApiServer,
  type ApiServerOptions,
  controllerBackedPlugins,
  createApiServer,
  followableResources,
  openObjectStore,
} from '../../apiserver/index.ts';
import type { Client } from '../../client/index.ts';
import { isNotFound, type KubeObject, ManualClock, type Resource, seededRandom } from '../../machinery/index.ts';
import { type ControllerDefinition, createManager, type LogEntry, memoryLogger } from '../../runtime/index.ts';
import { runUntil, settle } from '../../runtime/testkit/index.ts';
import { memoryEngine } from '../../store/index.ts';
import type { ServedResources } from '../served-resources.ts';

export interface EmbeddedWorldOptions {
  controllers(served: ServedResources): readonly ControllerDefinition[];
  server?: Partial<ApiServerOptions>;
}

const patienceMs = 10_000;

/** Controllers that run on the embedded API server in one process, with a manual clock. */
export interface EmbeddedWorld {
  readonly clock: ManualClock;
  readonly server: ApiServer;
  readonly client: Client;
  readonly entries: readonly LogEntry[];
  /** reads the object; undefined if it does not exist */
  find<T extends KubeObject>(resource: Resource<T>, name: string, namespace?: string): Promise<T | undefined>;
  /** advances the clock from timer to timer until the condition holds */
  until(condition: () => boolean | Promise<boolean>, limitMs?: number): Promise<void>;
  /** waits for work in progress, such as signatures on other threads, without advancing the clock */
  soon(condition: () => boolean | Promise<boolean>): Promise<void>;
  stop(): Promise<void>;
}

export async function embeddedWorld(options: EmbeddedWorldOptions): Promise<EmbeddedWorld> {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const store = await openObjectStore({ engine: memoryEngine(), clock });
  const server = await createApiServer({
    store,
    clock,
    random,
    definitions: builtinDefinitions,
    admissionPlugins: { disable: controllerBackedPlugins },
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: { mode: 'RBAC' },
    ...options.server,
  });
  const client: Client = server.localClient();
  const { logger, entries } = memoryLogger();
  const manager = createManager({ client, clock, random, log: logger });
  for (const definition of options.controllers(servedBy(server))) manager.add(definition);
  const stop = new AbortController();
  const running = manager.run(stop.signal);
  await manager.whenReady();
  return {
    clock,
    server,
    client,
    entries,
    find: (resource, name, namespace) =>
      client.get(resource, namespace === undefined ? { name } : { namespace, name }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
        return undefined;
      }),
    until: (condition, limitMs) => runUntil(clock, condition, limitMs === undefined ? {} : { limitMs }),
    async soon(condition) {
      const deadline = performance.now() + patienceMs;
      while (!(await condition())) {
        if (performance.now() > deadline) throw new Error('the condition did not hold in time');
        await settle(1);
      }
    },
    async stop() {
      stop.abort();
      await running;
      await server.stop(0);
      await store.close();
    },
  };
}

export function servedBy(server: ApiServer): ServedResources {
  return followableResources(server.registry);
}
