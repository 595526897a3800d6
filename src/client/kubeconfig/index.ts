export * from './credentials.ts';
export * from './errors.ts';
export * from './in-cluster.ts';
export * from './load.ts';
export * from './read.ts';
export * from './types.ts';
export * from './write.ts';
