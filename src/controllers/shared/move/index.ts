export { cancelMove, type MoveOptions, MoveWaitsError, moveNamespace, planMove } from './move.ts';
export { clusterId, type MoveRecord, readRecord } from './record.ts';
export { titleOf } from './refusals.ts';
