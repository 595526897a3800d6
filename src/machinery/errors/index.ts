export * from './capstan-error.ts';
export * from './error-codes.ts';
export * from './field-error.ts';
export * from './must.ts';
export * from './status.ts';
