export * from './aggregate.ts';
export { formatJson, printable, printableJson, printableLine } from './printable.ts';
export * from './trim.ts';
