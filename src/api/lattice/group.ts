export const latticeGroup = 'lattice.dev';
