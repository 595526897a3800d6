// The door of the controllers of LatticeClusters.
export { latticeFinalizer } from './names.ts';
export type { ChildInstaller } from './self/installer.ts';
export { accessName, accessNamespace, imageAnnotation, managementAnnotation, parentAnnotation } from './self/names.ts';
export * from './setup.ts';
