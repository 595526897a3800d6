export * from './factory.ts';
export * from './informer.ts';
export { type InformerPart, type PartedResource, partsOf } from './parted.ts';
export * from './store.ts';
export * from './types.ts';
export { ContentNotCachedError, hasContent } from './without-content.ts';
