// Making Machines and keeping them as their owner wants them, for every kind that owns Machines.
export * from './create-machine.ts';
export * from './machine-name.ts';
export * from './machine-owner.ts';
export { deleteLeftoverParts, type MachinePart, templatePart, unfinishedNames } from './parts.ts';
export * from './sync-machines.ts';
