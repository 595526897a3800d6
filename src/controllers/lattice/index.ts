// The door of the controllers of LatticeClusters.
export type { ChildInstaller } from './self/installer.ts';
export * from './setup.ts';
