export * from './documents.ts';
export * from './protobuf-v2.ts';
