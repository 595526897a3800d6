export * from './go-bytes.ts';
export * from './go-object.ts';
export * from './int.ts';
export * from './value.ts';
