export * from './kubernetes-version.ts';
