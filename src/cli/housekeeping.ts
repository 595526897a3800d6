import type { Logger } from '../runtime/index.ts';
import type { ManagementApi } from './management-api.ts';

export interface Housekeeping {
  /** rejects when a controller cannot go on */
  failed: Promise<never>;
  stop(): Promise<void>;
}

export async function startHousekeeping(
  _api: ManagementApi,
  _log: Logger,
  _signal: AbortSignal,
): Promise<Housekeeping> {
  return { failed: new Promise<never>(() => {}), stop: async () => {} };
}
