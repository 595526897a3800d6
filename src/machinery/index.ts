// The door of the machinery room: what every Kubernetes program needs, none of it doing I/O.
export * from './apply/index.ts';
export * from './cel/index.ts';
export * from './errors/index.ts';
export * from './json/index.ts';
export * from './jsonpath/index.ts';
export * from './meta/index.ts';
export * from './net/index.ts';
export * from './openapi/index.ts';
export * from './patch/index.ts';
export * from './pattern/index.ts';
export * from './protobuf/index.ts';
export * from './resource/index.ts';
export * from './schema/index.ts';
export * from './selector/index.ts';
export * from './text/index.ts';
export * from './time/index.ts';
export * from './validation/index.ts';
