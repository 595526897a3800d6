export { checkCluster } from './admission/cluster-rules.ts';
export { releaseInUse, stackInUse } from './admission/in-use.ts';
export { type StackControllersOptions, setupStackControllers } from './setup.ts';
export { builtInSource } from './source/built-in.ts';
export { directorySource } from './source/directory.ts';
export { registrySource } from './source/registry.ts';
export { releasePageSource } from './source/release-page.ts';
export type { FetchChart, ReleaseSource } from './source/types.ts';
