// Entry point of the LatticeCluster controllers.

export { isStockImage } from './cloud/image-kind.ts';
export type { AgentDials } from './link/agent.ts';
export type { CellPlace } from './link/cell.ts';
export { renewToken } from './link/enrolment.ts';
export {
  cellKey as latticeCellKey,
  manifestsPath as latticeManifestsPath,
  parentConfigKey as latticeParentConfigKey,
} from './link/names.ts';
export { latticeFinalizer } from './names.ts';
export { type PreviewOptions, previewLattice } from './preview.ts';
export type { ChildInstaller } from './self/installer.ts';
export { accessName, accessNamespace, imageAnnotation, managementAnnotation, parentAnnotation } from './self/names.ts';
export * from './setup.ts';
