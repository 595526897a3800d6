import type { Tool } from '../state.ts';
import { builtins } from './builtins.ts';
import { everydayTools } from './everyday.ts';
import { fileTools } from './files.ts';
import { tools } from './table.ts';
import { testTools } from './test.ts';
import { textTools } from './text.ts';

const all: Readonly<Record<string, Tool>> = {
  ...everydayTools,
  ...fileTools,
  ...textTools,
  ...testTools,
  ...builtins,
};
for (const [name, tool] of Object.entries(all)) tools.set(name, tool);

export { tools };
