export * from './capstan-error.ts';
export * from './field-error.ts';
export * from './status.ts';
