import { AsyncLocalStorage } from 'node:async_hooks';

const origins = new AsyncLocalStorage<string>();

/** Requests that come of this work, however deep in it, are counted for whoever is named. */
export function onBehalfOf<T>(name: string, work: () => T): T {
  return origins.run(name, work);
}

/** For whom a request is made at the moment; undefined: for nobody in particular. */
export function requestOrigin(): string | undefined {
  return origins.getStore();
}
