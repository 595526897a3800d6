import type { Tool } from '../state.ts';
import { builtins } from './builtins.ts';
import { everydayTools } from './everyday.ts';
import { fileTools } from './files.ts';
import { testTools } from './test.ts';
import { textTools } from './text.ts';

/** The commands every image has, by name. */
export const tools: ReadonlyMap<string, Tool> = new Map(
  Object.entries({
    ...everydayTools,
    ...fileTools,
    ...textTools,
    ...testTools,
    ...builtins,
  }),
);
