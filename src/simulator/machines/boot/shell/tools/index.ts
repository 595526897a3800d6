import type { Tool } from '../state.ts';
import { builtins } from './builtins.ts';
import { fileTools } from './files.ts';
import { networkTools } from './network.ts';
import { silentTools, systemTools } from './system.ts';
import { testTools } from './test.ts';
import { textTools } from './text.ts';

/** Every command a simulated image has, by name. */
export const tools: ReadonlyMap<string, Tool> = new Map(
  Object.entries({
    ...silentTools,
    ...systemTools,
    ...networkTools,
    ...fileTools,
    ...textTools,
    ...testTools,
    ...builtins,
  }),
);
