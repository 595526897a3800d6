export * from './registered-resource.ts';
export * from './registry.ts';
export * from './served-resources.ts';
