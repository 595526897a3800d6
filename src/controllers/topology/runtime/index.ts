// Runtime extensions: servers that are called at lifecycle hooks of clusters.
export * from './setup.ts';
