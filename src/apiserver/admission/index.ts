export * from './chain.ts';
export * from './types.ts';
