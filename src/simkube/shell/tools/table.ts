import type { Tool } from '../state.ts';

/** Common commands by name. In a file of its own, because some commands look up others. */
export const tools: Map<string, Tool> = new Map();
