export * from './trim.ts';
export { formatJson, printable, printableJson, printableLine } from './printable.ts';
