export * from './image-version.ts';
export * from './kubernetes-version.ts';
