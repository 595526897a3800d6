import type { Tool } from '../../../../../simkube/index.ts';
import { networkTools } from './network.ts';
import { silentTools, systemTools } from './system.ts';

/** The commands of a machine image that ask or change the machine itself, by name. */
export const machineTools: ReadonlyMap<string, Tool> = new Map(
  Object.entries({ ...silentTools, ...systemTools, ...networkTools }),
);
