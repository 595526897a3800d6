export * from './ensure.ts';
export * from './files.ts';
export * from './plan.ts';
export * from './recover.ts';
export * from './secret.ts';
export * from './types.ts';
