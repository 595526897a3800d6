export * from './factory.ts';
export * from './informer.ts';
export type { InformerPart, PartedResource } from './parted.ts';
export * from './store.ts';
export * from './types.ts';
export { hasContent } from './without-content.ts';
