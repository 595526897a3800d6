export * from './registered-resource.ts';
export * from './registry.ts';
