import type { Client } from '../../client/index.ts';
import { type MemoryClient, memoryClient } from '../../client/index.ts';
import { ManualClock, seededRandom, sleep } from '../../machinery/index.ts';
import type { Controller } from '../controller/controller.ts';
import { type ControllerDefinition, defineController } from '../controller/definition.ts';
import { type LogEntry, memoryLogger } from '../log.ts';
import { createManager, type Manager } from '../manager.ts';
import { settle } from './eventually.ts';
import { type FaultRule, faultyClient } from './faulty-client.ts';
import { Widgets } from './test-kinds.ts';

export interface ControllerWorld {
  clock: ManualClock;
  server: MemoryClient;
  manager: Manager;
  controller: Controller;
  entries: LogEntry[];
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** One controller of widgets on an in-memory API with a manual clock. */
export function controllerWorld(
  definition: Omit<ControllerDefinition, 'name' | 'for'>,
  options: { rules?: FaultRule[]; gracefulStopMs?: number; watchLagMs?: number; statusDelayMs?: number } = {},
): ControllerWorld {
  const clock = new ManualClock();
  const server = memoryClient({ clock });
  const { logger, entries } = memoryLogger();
  const manager = createManager({
    client: lagging(faultyClient(server, options.rules ?? []), clock, options.watchLagMs ?? 0),
    clock,
    random: seededRandom(5),
    log: logger,
    ...(options.gracefulStopMs !== undefined && { gracefulStopMs: options.gracefulStopMs }),
    ...(options.statusDelayMs !== undefined && { statusDelayMs: options.statusDelayMs }),
  });
  const controller = manager.add(defineController({ name: 'widget', for: Widgets, ...definition }));
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  return {
    clock,
    server,
    manager,
    controller,
    entries,
    async start() {
      running = manager.run(stop.signal);
      await manager.whenReady();
      await settle();
    },
    async stop() {
      stop.abort();
      await running;
    },
  };
}

/** A client whose watch events arrive late, as over a network. */
function lagging(client: Client, clock: ManualClock, lagMs: number): Client {
  if (lagMs === 0) return client;
  return {
    ...client,
    watch: (resource, options) => ({
      async *[Symbol.asyncIterator]() {
        for await (const event of client.watch(resource, options)) {
          await sleep(clock, lagMs);
          yield event;
        }
      },
    }),
  };
}
