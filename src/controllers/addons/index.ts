// Entry point of the ClusterResourceSet controllers.
export { setupAddonControllers } from './setup.ts';
