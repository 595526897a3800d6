// Public exports of the api room: kinds, strategies and schemas.
export * from './builtin.ts';
export * from './own.ts';
export * from './schema/index.ts';
