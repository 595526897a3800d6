export * from './nodes.ts';
export { type Definition, isEmptyBody, type ParseOptions, parseFile } from './parse.ts';
export { quoteGo } from './quote.ts';
