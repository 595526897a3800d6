import type { Tool } from '../../../../../simkube/index.ts';
import { networkTools } from './network.ts';
import { silentTools, systemTools } from './system.ts';

/** Commands of a machine image that query or change the machine, by name. */
export const machineTools: ReadonlyMap<string, Tool> = new Map(
  Object.entries({ ...silentTools, ...systemTools, ...networkTools }),
);
