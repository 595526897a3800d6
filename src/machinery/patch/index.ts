export { createJsonPatch, type JsonPatchOperation } from './create-json-patch.ts';
export { applyJsonPatch, type JsonPatchOptions, maxJsonPatchOperations } from './json-patch.ts';
export { applyMergePatch, createMergePatch } from './merge-patch.ts';
export { PatchError, type PatchErrorStatus } from './patch-error.ts';
export { goFormat } from './strategic-directives.ts';
export { applyStrategicMergePatch } from './strategic-merge-patch.ts';
