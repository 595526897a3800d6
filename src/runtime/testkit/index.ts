// The second door of the room, for tests only.
export * from './counting-client.ts';
export * from './eventually.ts';
export * from './faulty-client.ts';
export * from './memory-client.ts';
