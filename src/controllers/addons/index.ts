// The door of the add-on controllers: ClusterResourceSets.
export { setupAddonControllers } from './setup.ts';
