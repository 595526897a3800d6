export * from './factory.ts';
export * from './informer.ts';
export * from './store.ts';
export * from './types.ts';
