export { readAdditionalConfig } from './additional-config.ts';
export { ignitionContent, ignitionFile } from './content.ts';
export { encodeIgnition } from './encode.ts';
export { mergeIgnition } from './merge.ts';
export type { IgnitionContent, IgnitionUnit } from './types.ts';
