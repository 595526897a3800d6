import type { Core } from './core.ts';
import type { ServiceDefinition } from './service.ts';

/**
 * Builds one service on the core. A room declares its tables (`core.state.table`), the jobs that carry its asynchronous
 * steps (`core.jobs.define`), how long these take (`core.timings.declare`), what it limits (`core.quotas.declare`), and
 * provides what the others may ask of it (`core.provide`). It returns its routes and manners.
 *
 * Handlers are synchronous and run in a transaction; they read the other services through `core.services` when a request
 * comes, never while the rooms are being built.
 */
export type Room = (core: Core) => ServiceDefinition;
