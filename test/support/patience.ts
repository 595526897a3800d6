import { vi } from 'vitest';

/**
 * Timeout of waits in tests. It is long, because a busy machine must not fail a test, and each test has its own limit.
 */
const patienceMs = 30_000;

const { waitFor } = vi;
// Vitest has a setting for `expect.poll` but not for `waitFor`, whose default of one second is too short on two busy
// cores.
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: patienceMs, ...options });
