export * from './crossings.ts';
export * from './group-version-kind.ts';
export * from './types.ts';
