// Test kit of the API server: real servers on sockets, and clients that expose the wire protocol.
export * from './api.ts';
export * from './connection.ts';
export * from './objects.ts';
export * from './server.ts';
export * from './suite.ts';
export * from './targets.ts';
export * from './time.ts';
export * from './watch-stream.ts';
export * from './webhook-server.ts';
