import type { Tool } from '../state.ts';

/** The commands every image has, by name. Apart from the commands themselves, as some of them look others up. */
export const tools: Map<string, Tool> = new Map();
