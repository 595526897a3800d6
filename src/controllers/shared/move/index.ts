export { cancelMove, type MoveOptions, moveNamespace, planMove } from './move.ts';
export { titleOf } from './refusals.ts';
