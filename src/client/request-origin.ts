import { AsyncLocalStorage } from 'node:async_hooks';

const origins = new AsyncLocalStorage<string>();

/** Counts all requests made by the work, at any depth, for the given name. */
export function onBehalfOf<T>(name: string, work: () => T): T {
  return origins.run(name, work);
}

/** Returns the originator of the current requests; undefined if there is none. */
export function requestOrigin(): string | undefined {
  return origins.getStore();
}
