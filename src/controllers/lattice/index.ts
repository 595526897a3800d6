// The door of the controllers of LatticeClusters.
export * from './setup.ts';
