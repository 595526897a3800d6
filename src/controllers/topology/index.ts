// Entry point of the area that creates clusters from ClusterClasses.
export { type TopologyAdmission, topologyAdmission } from './admission/admission.ts';
export { setupTopologyControllers } from './setup.ts';
