export * from './controller.ts';
export * from './definition.ts';
export * from './predicates.ts';
export * from './result.ts';
export * from './watches.ts';
export * from './write-tracker.ts';
