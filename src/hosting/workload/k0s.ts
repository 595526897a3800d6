import { asUnstructured } from '../../machinery/index.ts';
import type { PlaneFacts } from '../facts.ts';
import { k0sDynamicConfig } from '../objects/k0s-config.ts';
import type { WorkloadObject } from '../result.ts';
import type { PlaneSpec } from '../spec.ts';

/** The user's flag that disables dynamic config. */
const staticFlag = '--enable-dynamic-config=false';

/** Dynamic configuration of k0s: charts and networks change without a restart. */
export function k0sObjects(desired: PlaneSpec, facts: PlaneFacts): WorkloadObject[] {
  if (desired.k0s?.flags.includes(staticFlag)) return [];
  return [{ object: asUnstructured(k0sDynamicConfig(desired, facts)), mode: 'own' }];
}
