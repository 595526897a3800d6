export { CrdLifecycle } from './lifecycle.ts';
export { nativeDefinitionsStay, publishNativeKinds } from './native.ts';
export { withCrdStrategy } from './strategy.ts';
export * from './types.ts';
