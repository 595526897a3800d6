// Updates of machines in place, by runtime extensions, for every kind that owns Machines.
export { askInPlace, inPlaceHandler } from './ask.ts';
export * from './begin.ts';
export { slimObject } from './slim-object.ts';
