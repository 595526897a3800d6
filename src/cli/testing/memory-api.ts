import { systemClock } from '../../machinery/index.ts';
import { nullLogger } from '../../runtime/index.ts';
import type { CommandContext } from '../context.ts';

export { type MemoryApi, registryMapper, startMemoryApi } from '../memory-api.ts';

export interface RecordingContext extends CommandContext {
  out(): string;
  err(): string;
  stop(): void;
}

export function recordingContext(input = ''): RecordingContext {
  let out = '';
  let err = '';
  const controller = new AbortController();
  return {
    env: {},
    stdout: (text) => {
      out += text;
    },
    stderr: (text) => {
      err += text;
    },
    readInput: async () => input,
    interactive: false,
    colour: false,
    clock: systemClock,
    log: nullLogger,
    signal: controller.signal,
    stopped: new Promise(() => {}),
    out: () => out,
    err: () => err,
    stop: () => controller.abort(),
  };
}
