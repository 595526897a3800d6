export * from './schema-renderer.ts';
