// Dry run of an edit of a topology.
export { suffixesOf } from '../desired/names.ts';
export { concernedClusters } from './concerned.ts';
export { createOverlay } from './overlay.ts';
export { planTopology } from './plan-topology.ts';
export type { PlannedObject, TopologyPlan } from './types.ts';
