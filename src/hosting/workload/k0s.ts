import type { KubeObject } from '../../machinery/index.ts';
import type { PlaneFacts } from '../facts.ts';
import { k0sDynamicConfig } from '../objects/k0s-config.ts';
import type { WorkloadObject } from '../result.ts';
import type { PlaneWish } from '../wish.ts';

/** A user who says this wants k0s to read its file only. */
const staticFlag = '--enable-dynamic-config=false';

/** The configuration k0s follows while it runs: charts and networks change without a restart. */
export function k0sObjects(wish: PlaneWish, facts: PlaneFacts): WorkloadObject[] {
  if (wish.k0s?.flags.includes(staticFlag)) return [];
  return [{ object: k0sDynamicConfig(wish, facts) as unknown as KubeObject, mode: 'own' }];
}
