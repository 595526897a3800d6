import type { ApiServer } from '../apiserver/index.ts';
import type { Manager } from '../runtime/index.ts';

export interface RunningManager {
  /** rejects when a controller fails permanently */
  failed: Promise<void>;
  stop(): Promise<void>;
}

/** Starts a manager and adds its state to the health checks of the API; resolves when its caches have synced. */
export async function runManager(
  manager: Manager,
  options: { server: ApiServer; name: string; signal: AbortSignal },
): Promise<RunningManager> {
  const { server, name, signal } = options;
  const checks = { readyz: () => manager.ready(), livez: () => manager.healthy() } as const;
  for (const endpoint of ['readyz', 'livez'] as const) {
    server.addHealthCheck({
      name,
      in: [endpoint],
      check() {
        const { ok, problems } = checks[endpoint]();
        if (!ok) throw new Error(problems.join('; '));
      },
    });
  }
  const stop = new AbortController();
  const running = manager.run(AbortSignal.any([stop.signal, signal]));
  await Promise.race([manager.whenReady(signal), running]);
  return {
    failed: running,
    stop: async () => {
      stop.abort();
      await running;
    },
  };
}
