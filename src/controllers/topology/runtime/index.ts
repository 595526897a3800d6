// Runtime extensions: servers that are asked at certain moments in the life of clusters.
export * from './setup.ts';
