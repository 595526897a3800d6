// In-place updates by runtime extensions, for all owners of Machines.
export { askInPlace, inPlaceHandler } from './ask.ts';
export * from './begin.ts';
export { slimObject } from './slim-object.ts';
