import { vi } from 'vitest';

/** What a test waits for comes when it comes: a busy machine is no reason to fail, and a test has a limit of its own. */
const patienceMs = 30_000;

const { waitFor } = vi;
// Vitest has a setting for `expect.poll`, but none for this; its second is short where two cores do everything at once.
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: patienceMs, ...options });
