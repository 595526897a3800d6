// The test kit of the API server: real servers on real sockets, and clients that show what was said on the wire.
export * from './api.ts';
export * from './connection.ts';
export * from './objects.ts';
export * from './server.ts';
export * from './suite.ts';
export * from './targets.ts';
export * from './time.ts';
export * from './watch-stream.ts';
export * from './webhook-server.ts';
