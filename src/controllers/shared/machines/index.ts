// Creates and updates Machines, for all their owners.
export * from './create-machine.ts';
export * from './machine-name.ts';
export * from './machine-owner.ts';
export { deleteLeftoverParts, type MachinePart, templatePart } from './parts.ts';
export * from './sync-machines.ts';
