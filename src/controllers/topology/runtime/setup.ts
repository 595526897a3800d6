import type { Client } from '../../../client/index.ts';
import type { Clock, PeerPolicy } from '../../../machinery/index.ts';
import type { Logger, Manager } from '../../../runtime/index.ts';
import { type BuiltInHookHandler, createHookCaller, type HookCaller } from '../../shared/index.ts';
import { extensionConfigController } from './extension-config-controller.ts';
import { serviceFinder } from './find-service.ts';
import { createExtensionHandlers } from './handlers.ts';
import { createExtensionTransport } from './transport.ts';

export interface RuntimeExtensionsOptions {
  /** client of the management API */
  client: Client;
  clock: Clock;
  log: Logger;
  /** addresses that may be contacted; default any */
  peers?: PeerPolicy;
  /** built-in handlers; read on every call, so that other areas can add theirs later */
  builtIn?: readonly BuiltInHookHandler[];
  /** only objects whose label `cluster.x-k8s.io/watch-filter` has this value are reconciled */
  watchFilter?: string;
}

/** Adds the ExtensionConfig controller to a manager; returns the hook caller. */
export function setupRuntimeExtensions(
  manager: Manager,
  options: RuntimeExtensionsOptions,
): { hooks: HookCaller; close(): Promise<void> } {
  const { client, clock, log, peers, builtIn, watchFilter } = options;
  const transport = createExtensionTransport({
    clock,
    findService: serviceFinder(client),
    ...(peers && { peers }),
  });
  const cache = manager.reader;
  manager.add(extensionConfigController({ cache, transport, ...(watchFilter !== undefined && { watchFilter }) }));
  const extensions = createExtensionHandlers({ cache, clock, transport, log });
  const hooks = createHookCaller({ clock, extensions, ...(builtIn && { builtIn }) });
  return { hooks, close: () => transport.close() };
}
