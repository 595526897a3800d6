export { defaultCrd, prepareCrdStatus } from './defaults.ts';
export { type CrdDefinitionDependencies, definitionFromCrd } from './definition.ts';
export { CrdLifecycle } from './lifecycle.ts';
export { type CrdNamesEvaluation, evaluateCrdNames } from './names.ts';
export { nativeDefinitionsStay, publishNativeKinds } from './native.ts';
export { withCrdStrategy } from './strategy.ts';
export * from './types.ts';
export { validateCrd } from './validate.ts';
export { crdWarnings } from './warnings.ts';
