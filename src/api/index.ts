// The door of the api room: the kinds users write, their behaviour and their schemas.
export * from './builtin.ts';
export * from './own.ts';
export * from './schema/index.ts';
